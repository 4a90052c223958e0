package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
)

const (
	shallow      = "few waiting"
	deep         = "many waiting"
	nameOpen     = "with an old snapshot"
	nameClosed   = "without"
	shallowDepth = 10_000
	deepDepth    = 1_000_000
	// The shorter queue is drained down to a tenth and filled up again so often.
	bursts = 10
)

// depths are how many entries wait in the shorter and in the longer queue.
func depths(b *measure.Bench) (few, many int) {
	return b.Size(shallowDepth, shallowDepth/5), b.Size(deepDepth, deepDepth/20)
}

// depth drains queues of different length in the same way.
func depth() measure.Experiment {
	w := Work{Entry: 16, Result: 200}
	return measure.Experiment{
		Name: "store drain, depth",
		Contenders: []measure.Contender{
			{Name: shallow, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
				few, _ := depths(b)
				return drainAtDepth(ctx, b, w, few)
			}},
			{Name: deep, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
				_, many := depths(b)
				return drainAtDepth(ctx, b, w, many)
			}},
		},
		Rows: func(r *measure.Results) []measure.Row {
			few, many := depths(r.Bench)
			return []measure.Row{measure.AtLeast(fmt.Sprintf("drain with %s waiting / with %s", measure.Count(many), measure.Count(few)),
				r.Ratio(deep, shallow, measure.Rate), 0.9, 0, "×",
				fmt.Sprintf("%d times %s entries, and as many submitted anew in between; all were submitted through the store, and written to disk before", bursts,
					measure.Count(few*9/10))).Of(measure.Depth)}
		},
	}
}

// drainAtDepth drains the same number of entries in the same bursts whatever waits
// behind them. Only the bursts are timed.
func drainAtDepth(ctx context.Context, b *measure.Bench, w Work, waiting int) (measure.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	return withStore(ctx, b, w, func(q *storeDesign, _ Work) (measure.Sample, error) {
		few, _ := depths(b)
		claims := few / Batch * 9 / 10
		if err := errors.Join(q.fill(ctx, 1, waiting), q.tidy(ctx)); err != nil {
			return nil, err
		}
		// A million entries leave a gigabyte to write, which would be written meanwhile.
		if err := b.Checkpoint(ctx, q.pool.Config().ConnString()); err != nil {
			return nil, err
		}
		var numbers []int64
		var took time.Duration
		for burst := range bursts + 1 {
			d, err := drain(ctx, q, steps(claims))
			if err != nil {
				return nil, err
			}
			if burst > 0 { // the first one warms up
				took += d.took
			}
			if len(d.numbers) != claims*Batch {
				return nil, fmt.Errorf("%d claims returned %d entries", claims, len(d.numbers))
			}
			numbers = append(numbers, d.numbers...)
			if err := q.fill(ctx, int64(waiting+len(numbers)-len(d.numbers)+1), len(d.numbers)); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(eachOnce(numbers, len(numbers)), q.check(ctx, len(numbers), waiting)); err != nil {
			return nil, err
		}
		return measure.Sample{measure.Rate: float64(bursts*claims*Batch) / took.Seconds()}, nil
	})
}

// snapshot drains while another transaction does or doesn't see the database as it
// was at the beginning, so that nothing that was deleted since can be removed.
func snapshot() measure.Experiment {
	w := Work{Entries: 200_000, Entry: 16, Result: 200}
	return measure.Experiment{
		Name: "store drain, old snapshot",
		Contenders: []measure.Contender{
			{Name: nameClosed, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
				return withStore(ctx, b, w.quickly(b), func(q *storeDesign, w Work) (measure.Sample, error) { return run(ctx, b, q, w, false) })
			}},
			{Name: nameOpen, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
				return withStore(ctx, b, w.quickly(b), func(q *storeDesign, w Work) (s measure.Sample, err error) {
					closeSnapshot, err := q.openSnapshot(ctx)
					if err != nil {
						return nil, err
					}
					defer func() { err = errors.Join(err, closeSnapshot()) }()
					return run(ctx, b, q, w, false)
				})
			}},
		},
		Rows: func(r *measure.Results) []measure.Row {
			w := w.quickly(r.Bench)
			n := fmt.Sprintf("%s entries, %s", measure.Count(w.Entries), w.size())
			return []measure.Row{
				measure.AtLeast("drain while another transaction holds a snapshot / without", r.Ratio(nameOpen, nameClosed, measure.Rate), 0.9, 0, "×", n).Of(measure.OldSnapshot),
				measure.AtLeast("last tenth / first tenth of a long drain", r.Of(nameClosed, figureTenths), 0.9, 0, "×", n).Of(measure.Depth),
				measure.AtLeast("last tenth / first tenth of a long drain with a snapshot held", r.Of(nameOpen, figureTenths), 0.9, 0, "×", n).Of(measure.OldSnapshot),
			}
		},
	}
}

// openSnapshot begins a transaction on a connection of its own that sees the
// database as it is now. The returned function ends it, and fails if it had ended
// before.
func (d database) openSnapshot(ctx context.Context) (end func() error, err error) {
	c, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", statement("see")} {
		if _, err := c.Exec(ctx, text); err != nil {
			c.Release()
			return nil, err
		}
	}
	return func() error {
		defer c.Release()
		_, err := c.Exec(ctx, statement("see"))
		_, ended := c.Exec(ctx, "COMMIT")
		return errors.Join(err, ended)
	}, nil
}
