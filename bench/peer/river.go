package peer

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/bench/measure"
)

// insertAtOnce is how many jobs a bulk call inserts.
const insertAtOnce = 5000

// riverPoll is River's shortest wait between two fetches, and here also its
// longest: a job never waits for a fetch that could be made.
const riverPoll = time.Millisecond

//go:embed sql/river_open.sql
var riverOpenSQL string

//go:embed sql/river_recorded.sql
var riverRecordedSQL string

//go:embed sql/river_stored.sql
var riverStoredSQL string

// riverMode is a way to use River.
type riverMode struct {
	// transactional completes each job in the transaction that stores its result;
	// otherwise the result is recorded as the job's output, and completions go in
	// batches.
	transactional bool
	// Each of the clients, which share the pool, has the workers.
	clients, workers, pool int
}

func (m riverMode) contender() measure.Contender {
	way := "recorded output"
	if m.transactional {
		way = "transactional completion"
	}
	name := fmt.Sprintf("River, %s, %d × %d workers, pool of %d", way, m.clients, m.workers, m.pool)
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		w := &workload{jobs: b.Size(fullJobs, quickJobs), openSQL: riverOpenSQL, storedSQL: riverRecordedSQL, resultBytes: textBytes}
		if m.transactional {
			w.jobs, w.storedSQL, w.resultBytes = b.Size(slowJobs, quickJobs), riverStoredSQL, documentBytes
		}
		return w.run(ctx, b, &riverPeer{mode: m, result: document(2), worked: make(chan struct{})})
	}}
}

// riverEntry is a job.
type riverEntry struct {
	Text string `json:"text"`
}

// Kind names the jobs.
func (riverEntry) Kind() string { return "entry" }

// riverPeer is one run of River.
type riverPeer struct {
	river.WorkerDefaults[riverEntry]

	mode   riverMode
	result string

	pool    *pgxpool.Pool
	clients []*river.Client[pgx.Tx]

	jobs   int64
	done   atomic.Int64
	first  sync.Once
	began  time.Time
	worked chan struct{} // closed once each job was worked on
}

// prepare makes the client and inserts the jobs.
func (r *riverPeer) prepare(ctx context.Context, w *workload) error {
	r.jobs = int64(w.jobs)
	if err := r.connect(ctx, w.address); err != nil {
		return err
	}
	text := document(1)
	for left := w.jobs; left > 0; left -= insertAtOnce {
		jobs := make([]river.InsertManyParams, min(left, insertAtOnce))
		for i := range jobs {
			jobs[i].Args = riverEntry{Text: text}
		}
		if _, err := r.clients[0].InsertManyFast(ctx, jobs); err != nil {
			return err
		}
	}
	return nil
}

func (r *riverPeer) connect(ctx context.Context, address string) error {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return err
	}
	config.MaxConns = int32(r.mode.pool)
	config.MinConns = config.MaxConns
	if r.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	driver, logger := riverpgxv5.New(r.pool), slog.New(slog.DiscardHandler)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, r)
	for range r.mode.clients {
		client, err := river.NewClient(driver, &river.Config{
			Workers: workers, Logger: logger, FetchCooldown: riverPoll, FetchPollInterval: riverPoll,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: r.mode.workers}},
		})
		if err != nil {
			return err
		}
		r.clients = append(r.clients, client)
	}
	return nil
}

func (r *riverPeer) work(ctx context.Context, _ *workload) (time.Time, error) {
	for _, c := range r.clients {
		if err := c.Start(ctx); err != nil {
			return time.Time{}, err
		}
	}
	select {
	case <-r.worked:
		return r.began, nil
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("%d of %d jobs were worked on: %w", r.done.Load(), r.jobs, ctx.Err())
	}
}

func (r *riverPeer) end(ctx context.Context) error {
	if r.pool == nil {
		return nil
	}
	defer r.pool.Close()
	var stopping errgroup.Group
	for _, c := range r.clients {
		stopping.Go(func() error { return c.Stop(ctx) })
	}
	return stopping.Wait()
}

// Work does nothing but store the result.
func (r *riverPeer) Work(ctx context.Context, job *river.Job[riverEntry]) error {
	r.first.Do(func() { r.began = time.Now() })
	store := r.record
	if r.mode.transactional {
		store = r.storeAndComplete
	}
	if err := store(ctx, job); err != nil {
		return err
	}
	if r.done.Add(1) == r.jobs {
		close(r.worked)
	}
	return nil
}

func (r *riverPeer) record(ctx context.Context, _ *river.Job[riverEntry]) error {
	return river.RecordOutput(ctx, riverEntry{Text: r.result})
}

func (r *riverPeer) storeAndComplete(ctx context.Context, job *river.Job[riverEntry]) error {
	return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		body := []byte(`{"text":"` + r.result + `"}`)
		if _, err := tx.Exec(ctx, storeResultSQL, strconv.FormatInt(job.ID, 10), body); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}
