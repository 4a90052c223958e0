package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// What a zero field of a [Worker] stands for.
const (
	DefaultBatch      = 100
	DefaultLease      = 10 * time.Minute
	DefaultWait       = 20 * time.Second
	DefaultIdlePause  = time.Second
	DefaultMaxBackoff = 30 * time.Second
)

// NoWait is for the field Wait: claims are answered at once.
const NoWait time.Duration = -1

// firstBackoff is the longest pause after a first failure; it doubles with each
// further one up to the worker's MaxBackoff.
const firstBackoff = 250 * time.Millisecond

// quietTime is how long a worker keeps quiet about failures of the same streak.
const quietTime = time.Minute

// Worker processes entries of one organism for one pipeline version. Fill in the
// fields that have no default, then call Run; don't change it while it runs.
type Worker struct {
	Client          *client.Client
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	// Process makes a result of an entry. The worker fills in accession, version
	// and attempt id. It is called for up to Parallel entries at a time, and its
	// context ends when the worker is told to stop or the lease is lost. If it
	// panics, the entry gets an error that says so, and the worker goes on.
	Process func(context.Context, seqlease.Entry) seqlease.Result

	Batch    int           // entries per claim; 0: DefaultBatch
	Lease    time.Duration // whole seconds, 10 s to 24 h; 0: DefaultLease
	Parallel int           // entries processed at a time; 0: one for each core
	ID       string        // a label for people; empty: host name and process id
	// NoRenewal leaves leases as they were claimed, as pipelines do that only claim
	// and send. Otherwise a lease is renewed at about a third of it.
	NoRenewal bool
	// UntilEmpty ends the run at the first claim that finds nothing waiting.
	UntilEmpty bool
	// Wait is how long the server may hold back the answer to a claim while nothing
	// is waiting: whole seconds, at most 30 s; 0: DefaultWait, or [NoWait]. With
	// UntilEmpty it isn't asked to.
	Wait time.Duration
	// IdlePause is about how long to wait between claims that were answered at once
	// with nothing; 0: DefaultIdlePause.
	IdlePause time.Duration
	// MaxBackoff is the longest pause between tries while calls fail; 0:
	// DefaultMaxBackoff.
	MaxBackoff time.Duration
	// Observe is told what happens, if it isn't nil. It may be called from several
	// goroutines at once, and the work waits for it.
	Observe func(Event)
	Logger  *slog.Logger // nil: no log
}

// Run claims and processes batches until ctx ends, or until nothing is waiting
// if UntilEmpty is set; then it returns nil. When ctx ends, entries without a
// result are given back, which costs them no attempt, and the results that are
// there are sent (L8). Run returns an error only for what waiting can't mend: the
// server refuses the token, the organism or the request.
func (w *Worker) Run(ctx context.Context) error {
	run, err := w.start()
	if err != nil {
		return err
	}
	defer run.lifeline.CloseIdle()
	for ctx.Err() == nil {
		asked := time.Now()
		claimed, err := run.claim(ctx)
		switch {
		case err != nil && isFinal(err):
			return err
		case err != nil:
			run.waitOut(ctx, err)
		case len(claimed.Entries) > 0:
			run.backoff.succeeded()
			run.batch(ctx, claimed)
		case w.UntilEmpty && claimed.RetryAfter == 0: // else it says nothing about what is waiting
			return nil
		default:
			run.backoff.succeeded()
			run.idle(ctx, time.Since(asked), claimed.RetryAfter)
		}
	}
	return nil
}

// run is a worker at work, with every default filled in.
type run struct {
	Worker
	// lifeline renews and gives back on connections of its own, so that neither
	// waits behind a submission (B008).
	lifeline *client.Client
	etag     string // of the last empty claim
	backoff  backoff
}

func (w *Worker) start() (*run, error) {
	if w.Client == nil || w.Organism == "" || w.Process == nil || w.PipelineVersion < 1 {
		return nil, errors.New("worker: Client, Organism, PipelineVersion and Process are needed")
	}
	r := &run{Worker: *w, lifeline: w.Client.Apart()}
	setDefault(&r.Batch, DefaultBatch)
	setDefault(&r.Lease, DefaultLease)
	setDefault(&r.Parallel, runtime.GOMAXPROCS(0))
	setDefault(&r.Wait, DefaultWait)
	setDefault(&r.IdlePause, DefaultIdlePause)
	setDefault(&r.MaxBackoff, DefaultMaxBackoff)
	if r.UntilEmpty {
		r.Wait = NoWait
	}
	if r.ID == "" {
		host, _ := os.Hostname() // a label only: an unknown host is an empty one
		r.ID = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	r.Logger = r.Logger.With("organism", r.Organism, "pipeline_version", r.PipelineVersion, "worker_id", r.ID)
	r.backoff = backoff{max: r.MaxBackoff}
	return r, nil
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// claim asks for a batch. While nothing is waiting it sends the tag of the last
// empty answer, so that an idle poll costs the server next to nothing.
func (r *run) claim(ctx context.Context) (client.Claimed, error) {
	claimed, err := r.Client.Claim(ctx, client.ClaimRequest{
		Organism: r.Organism, PipelineVersion: r.PipelineVersion,
		Entries: r.Batch, Lease: r.Lease, WorkerID: r.ID, Wait: max(r.Wait, 0), IfNoneMatch: r.etag,
	})
	if err != nil {
		r.etag = ""
		return client.Claimed{}, err
	}
	if len(claimed.Entries) > 0 {
		r.etag = ""
	} else if claimed.ETag != "" {
		r.etag = claimed.ETag
	}
	return claimed, nil
}

// idle pauses after a claim that found nothing. One that the server held back
// has had its pause; a server that answers at once, as one that stops does, isn't
// asked in a tight loop.
func (r *run) idle(ctx context.Context, held, retryAfter time.Duration) {
	d := jitter(r.IdlePause)
	if held >= d {
		d = 0
	}
	pause(ctx, max(d, retryAfter))
}

// isFinal says whether the same call will always be answered like this. A
// pipeline version that is outdated is not final: such workers idle quietly
// until they are replaced, instead of being restarted over and over.
func isFinal(err error) bool {
	if errors.Is(err, seqlease.ErrPipelineOutdated) {
		return false
	}
	var problem *client.ProblemError
	return errors.As(err, &problem) && !problem.Temporary()
}

// waitOut pauses after a failed call and says so, at most once a minute. A call
// that ended with ctx didn't fail.
func (r *run) waitOut(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	d, loud := r.backoff.failed()
	var problem *client.ProblemError
	switch {
	case errors.Is(err, seqlease.ErrPipelineOutdated):
		d = jitter(r.MaxBackoff)
	case errors.As(err, &problem):
		d = max(d, problem.RetryAfter)
	}
	r.observe(Event{Kind: Waiting, Error: err.Error()})
	if loud {
		r.Logger.WarnContext(ctx, "waiting to try again", "error", err, "failures", r.backoff.failures)
	}
	pause(ctx, d)
}

func (r *run) observe(e Event) {
	if r.Observe == nil {
		return
	}
	e.At, e.WorkerID = time.Now(), r.ID
	r.Observe(e)
}
