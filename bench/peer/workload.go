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
	// openSQL counts the jobs that aren't completed. It is asked again and again, so it
	// is cheap.
	openSQL string
	// storedSQL counts the jobs that are completed and whose result is stored whole;
	// its argument is resultBytes.
	storedSQL   string
	resultBytes int
}

// peer is a queue. A run is one call of each method, in this order; end is called
// whatever went wrong before it.
type peer interface {
	// prepare brings up its tables in an empty database, inserts the jobs and starts
	// what drains, up to its first fetch.
	prepare(ctx context.Context, w *workload) error
	// work lets the workers go and returns once each job was worked on, though the last
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
	if err := w.start(ctx, connection, p); err != nil {
		return nil, errors.Join(err, p.end(ctx))
	}
	before, err := processorTime(ctx, connection)
	if err != nil {
		return nil, errors.Join(err, p.end(ctx))
	}
	began, err := p.work(ctx, w)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("work: %w", err), p.end(ctx))
	}
	ended := make(chan error, 1)
	go func() { ended <- p.end(ctx) }()
	took, err := w.await(ctx, connection, began)
	if err := errors.Join(err, <-ended); err != nil {
		return nil, err
	}
	after, err := processorTime(ctx, connection)
	if err != nil {
		return nil, err
	}
	n := float64(w.jobs)
	return measure.Sample{measure.Rate: n / took.Seconds(), processor: float64((after - before).Microseconds()) / n}, nil
}

// start makes everything ready for work.
func (w *workload) start(ctx context.Context, c *pgx.Conn, p peer) error {
	if err := p.prepare(ctx, w); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	_, err := c.Exec(ctx, "VACUUM ANALYZE") // as autovacuum does: the planner knows the tables
	return err
}

// await waits until all jobs are completed, checks that all results are there, and
// returns how long it took.
func (w *workload) await(ctx context.Context, c *pgx.Conn, began time.Time) (time.Duration, error) {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		took := time.Since(began) // what the statement sees was so when it began
		var open int
		if err := c.QueryRow(ctx, w.openSQL).Scan(&open); err != nil {
			return 0, fmt.Errorf("count what is open: %w", err)
		}
		if open == 0 {
			return took, w.check(ctx, c)
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d jobs are open: %w", open, w.jobs, ctx.Err())
		case <-again.C:
		}
	}
}

func (w *workload) check(ctx context.Context, c *pgx.Conn) error {
	var stored int
	if err := c.QueryRow(ctx, w.storedSQL, w.resultBytes).Scan(&stored); err != nil {
		return fmt.Errorf("count what is stored: %w", err)
	}
	if stored != w.jobs {
		return fmt.Errorf("%d jobs of %d are completed with their result", stored, w.jobs)
	}
	return nil
}
