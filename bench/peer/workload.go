package peer

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/measure"
)

// What everybody drains. A job and its result are documents of the same size,
// whose text doesn't compress: what is stored is what is counted.
const (
	documentBytes = 1000
	fullJobs      = 40_000
	slowJobs      = 10_000 // of whoever commits for each job: the rate doesn't depend on it
	quickJobs     = 1000
	storeEntries  = 100_000 // of seqlease, which would be done in a moment
)

// textBytes is the length of the text in a document {"text":"…"}.
const textBytes = documentBytes - len(`{"text":""}`)

// The waits of a run.
const (
	// runLimit ends a drain that hangs: the slowest takes half a minute.
	runLimit = 5 * time.Minute
	// lookAgain is how often the database is asked whether the last jobs are done.
	lookAgain = 5 * time.Millisecond
)

//go:embed sql/result_table.sql
var resultTableSQL string

//go:embed sql/store_result.sql
var storeResultSQL string

// document is the text of a job or a result: digits in base 64.
func document(seed uint64) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // filling
	text := make([]byte, textBytes)
	for i := range text {
		text[i] = digits[random.IntN(len(digits))]
	}
	return string(text)
}

// workload is what a peer drains in a run, on a database of its own.
type workload struct {
	jobs    int
	address string // of the database
	// countSQL counts the jobs that are completed and whose result is stored whole;
	// its argument is resultBytes.
	countSQL    string
	resultBytes int
}

// peer is a queue. A run is one call of each method, in this order; end is called
// whatever went wrong before it.
type peer interface {
	// prepare brings up its tables in an empty database and inserts the jobs.
	prepare(ctx context.Context, w *workload) error
	// work starts the workers and returns once each job was worked on, though the last
	// completions may not be stored yet. The drain counts from when the first job had
	// come to a worker: the first fetch is a present.
	work(ctx context.Context, w *workload) (began time.Time, err error)
	// end stops the workers. A peer that is stopped stores the completions that it
	// holds back, and then it returns.
	end(ctx context.Context) error
}

// run lets a peer drain all jobs and returns its rate.
func (w *workload) run(ctx context.Context, b *measure.Bench, p peer) (_ measure.Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var drop func()
	if w.address, drop, err = b.Database(ctx); err != nil {
		return nil, err
	}
	defer drop()
	if err := b.Checkpoint(ctx, w.address); err != nil {
		return nil, err
	}
	connection, err := pgx.Connect(ctx, w.address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
	if _, err := connection.Exec(ctx, resultTableSQL); err != nil {
		return nil, err
	}
	began, err := w.start(ctx, connection, p)
	if err != nil {
		return nil, errors.Join(err, p.end(ctx))
	}
	ended := make(chan error, 1)
	go func() { ended <- p.end(ctx) }()
	took, err := w.await(ctx, connection, began)
	if err := errors.Join(err, <-ended); err != nil {
		return nil, err
	}
	return measure.Sample{measure.Rate: float64(w.jobs) / took.Seconds()}, nil
}

func (w *workload) start(ctx context.Context, c *pgx.Conn, p peer) (time.Time, error) {
	if err := p.prepare(ctx, w); err != nil {
		return time.Time{}, fmt.Errorf("prepare: %w", err)
	}
	// As in a database that has run for a while, the planner knows the tables.
	if _, err := c.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return time.Time{}, err
	}
	began, err := p.work(ctx, w)
	if err != nil {
		return time.Time{}, fmt.Errorf("work: %w", err)
	}
	return began, nil
}

// await waits until all jobs are done and returns how long that took. More of them
// than there are is an error.
func (w *workload) await(ctx context.Context, c *pgx.Conn, began time.Time) (time.Duration, error) {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		var n int
		if err := c.QueryRow(ctx, w.countSQL, w.resultBytes).Scan(&n); err != nil {
			return 0, fmt.Errorf("count what is done: %w", err)
		}
		took := time.Since(began)
		switch {
		case n == w.jobs:
			return took, nil
		case n > w.jobs:
			return 0, fmt.Errorf("%d of %d jobs are done", n, w.jobs)
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d jobs are done: %w", n, w.jobs, ctx.Err())
		case <-again.C:
		}
	}
}
