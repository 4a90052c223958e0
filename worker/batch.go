package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// lastSend is how long sending the results of a finished batch may take after
// the worker was told to stop.
const lastSend = 10 * time.Second

// repeatAtLeast is for how long undelivered results are sent again even if the
// lease is over: if they arrived and only the answer was lost, it comes now (L6).
const repeatAtLeast = 30 * time.Second

// batch processes what was claimed and sends the results.
func (r *run) batch(ctx context.Context, claimed client.Claimed) {
	ends := time.Now().Add(r.Lease) // monotonic; decides only when to stop repeating
	if s := claimed.Entries[0].LeaseSeconds; s > 0 {
		ends = time.Now().Add(time.Duration(s) * time.Second)
	}
	about := Event{AttemptID: claimed.Entries[0].AttemptID, Entries: eventEntries(claimed.Entries)}
	r.tell(about, Claimed)
	results, err := r.process(ctx, claimed.Entries)
	if err != nil {
		about.Error = err.Error()
		r.tell(about, Dropped)
		return
	}
	r.submit(ctx, results, about, ends)
}

// process returns the results in the order of the entries.
func (r *run) process(ctx context.Context, entries []seqlease.Entry) ([]seqlease.Result, error) {
	results := make([]seqlease.Result, len(entries))
	var group errgroup.Group
	group.SetLimit(r.Parallel)
	for i, entry := range entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("told to stop: %w", err)
			}
			about := Event{AttemptID: entry.AttemptID, Entries: eventEntries(entries[i : i+1])}
			r.tell(about, EntryStarted)
			result := r.processOne(ctx, entry)
			if err := ctx.Err(); err != nil { // the result may be half of one
				return fmt.Errorf("told to stop: %w", err)
			}
			result.AccessionVersion, result.AttemptID = entry.AccessionVersion, entry.AttemptID
			results[i] = result
			about.Errors, about.Warnings = messages(result.Errors), messages(result.Warnings)
			r.tell(about, EntryDone)
			return nil
		})
	}
	return results, group.Wait()
}

// processOne calls Process and turns a panic into a result with an error, so
// that one entry can't take the worker down.
func (r *run) processOne(ctx context.Context, entry seqlease.Entry) (result seqlease.Result) {
	defer func() {
		if p := recover(); p != nil {
			r.Logger.ErrorContext(ctx, "pipeline panicked",
				"accession_version", entry.String(), "error", p, "stack", string(debug.Stack()))
			result = seqlease.Result{Errors: []seqlease.Annotation{{
				Message: fmt.Sprintf("The pipeline failed on this entry (internal error: %v). Please report it to the operator of the pipeline.", p),
			}}}
		}
	}()
	return r.Process(ctx, entry)
}

// submit sends the results, again and again while the server is away and the
// lease may still run. It sends them however late it is: the server's clock
// decides about the lease, not ours (L11). A refused batch is dropped.
func (r *run) submit(ctx context.Context, results []seqlease.Result, about Event, ends time.Time) {
	if least := time.Now().Add(repeatAtLeast); ends.Before(least) {
		ends = least
	}
	for {
		err := r.send(ctx, results)
		var refused *seqlease.RefusedError
		switch {
		case err == nil:
			r.backoff.succeeded()
			r.tell(about, Submitted)
			return
		case errors.As(err, &refused):
			r.Logger.WarnContext(ctx, "results refused, batch dropped",
				"attempt_id", about.AttemptID, "rows", len(results), "error", err)
			about.Refused, about.Error = refused.Refused, err.Error()
			r.tell(about, Refused)
			return
		case isFinal(err) || ctx.Err() != nil || !time.Now().Before(ends):
			r.Logger.ErrorContext(ctx, "results not delivered, batch dropped",
				"attempt_id", about.AttemptID, "rows", len(results), "error", err)
			about.Error = err.Error()
			r.tell(about, Dropped)
			r.waitOut(ctx, err) // a server that refuses everything isn't asked in a tight loop
			return
		}
		r.waitOut(ctx, err)
	}
}

// send finishes what it began even if the worker is told to stop meanwhile.
func (r *run) send(ctx context.Context, results []seqlease.Result) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastSend, cancel) })
	defer stop()
	return r.Client.SubmitResults(sending, r.Organism, r.PipelineVersion, slices.Values(results))
}

func (r *run) tell(about Event, kind EventKind) {
	about.Kind = kind
	r.observe(about)
}

func eventEntries(entries []seqlease.Entry) []EventEntry {
	list := make([]EventEntry, len(entries))
	for i, e := range entries {
		list[i] = EventEntry{AccessionVersion: e.AccessionVersion, Attempt: e.Attempt}
	}
	return list
}

func messages(annotations []seqlease.Annotation) []string {
	list := make([]string, len(annotations))
	for i, a := range annotations {
		list[i] = a.Message
	}
	return list
}
