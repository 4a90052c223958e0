package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/postgres"
)

// Most claims begin behind what this process has seen. Now and then one looks at the
// whole queue, for tickets that somebody has put back meanwhile, and passes whatever
// dead rows lie there. What that costs is looked at here, by stores that remember
// nothing, whose first claim is such a look.

// The figures of looks at the whole queue in a state; its name comes before them.
const (
	wholeBuffers = ": whole look, buffers" // the median
	wholeMillis  = ": whole look, ms"      // the slowest, of execution
	wholeShare   = ": general claims, %"   // of the time of a server that always claims
)

// wholeLooks are looked at in each state.
const wholeLooks = 5

// The store's rule: the next look is at least so long after the last one, and so many
// times as long as that took, up to the longest rest.
const (
	restShortest = time.Second
	restChanged  = 100 * time.Millisecond // while something is added
	restFactor   = 20
	restLongest  = 5 * time.Second
)

// For the share of the time one entry is claimed after the other, at this pace, for
// some of the longest rests.
const (
	shareTime = 3 * restLongest
	sharePace = 25 * time.Millisecond
)

// restAfter is how long after a look that took so long the next one comes.
func restAfter(millis float64, shortest time.Duration) time.Duration {
	rest := max(shortest, min(time.Duration(restFactor*millis*float64(time.Millisecond)), restLongest))
	return rest.Round(10 * time.Millisecond)
}

// wholeRows are those of a state.
func wholeRows(r *measure.Results, contender, state, shown string) []measure.Row {
	millis := r.Of(contender, state+wholeMillis).Longest()
	return []measure.Row{
		measure.Inform("a look at the whole queue, "+shown, r.Of(contender, state+wholeBuffers), "buffers",
			fmt.Sprintf("the first claim of 100 of a store that remembers nothing; median of %d", wholeLooks)),
		measure.Inform("the slowest of those looks, "+shown, millis, "ms",
			fmt.Sprintf("by the store's rule the next one comes %s after its beginning, or %s while something is added",
				restAfter(millis.Figure, restShortest), restAfter(millis.Figure, restChanged))),
		measure.AtMost("share of the time for looks at the whole queue, "+shown, r.Of(contender, state+wholeShare), 5, 0, "%",
			fmt.Sprintf("the general statement of claims, which looks for ended leases and suspects too, while one entry is claimed every %s in %s", sharePace, shareFor(r.Bench))),
	}
}

// shareFor is how long the share is looked at.
func shareFor(b *measure.Bench) time.Duration { return shareTime / time.Duration(b.Size(1, 50)) }

// lookWhole looks at looks at the whole queue.
func (l *claimLook) lookWhole(ctx context.Context, state string) error {
	var buffers, millis []float64
	for range min(wholeLooks, l.claims) {
		err := l.afresh(ctx, func(q *storeDesign) error {
			c, err := l.claimBy(ctx, q)
			if err == nil && c.general != 1 {
				err = errors.New("the first claim of a store didn't look at the whole queue")
			}
			buffers, millis = append(buffers, float64(c.buffers)), append(millis, c.millis)
			return err
		})
		if err != nil {
			return err
		}
	}
	l.sample[state+wholeBuffers], l.sample[state+wholeMillis] = median(buffers), slices.Max(millis)
	return l.afresh(ctx, func(q *storeDesign) error { return l.share(ctx, q, state, median(millis)) })
}

// share lets a store claim for a while. It begins with a look at the whole queue, and
// the share is taken from there to the beginning of the last statement that took at
// least half as long: looks and the rests behind them are counted in pairs.
func (l *claimLook) share(ctx context.Context, q *storeDesign, state string, usual float64) error {
	q.batch = 1
	pace := time.NewTicker(sharePace)
	defer pace.Stop()
	var periods periods
	last, err := l.soFar(ctx)
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < l.shareTime; {
		at := time.Since(began)
		numbers, err := q.step(ctx)
		if err != nil {
			return err
		}
		l.numbers = append(l.numbers, numbers...)
		after, err := l.soFar(ctx)
		if err != nil {
			return err
		}
		periods.add(at, after.generalMillis-last.generalMillis, usual)
		last = after
		select {
		case <-pace.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.sample[state+wholeShare] = periods.share(l.shareTime)
	return nil
}

// periods adds up what statements took, up to each that is a long one.
type periods struct {
	millis      float64       // of all
	paid        float64       // of those before the last long one
	until       time.Duration // when that one began
	first, long bool
}

func (p *periods) add(at time.Duration, millis, usual float64) {
	if p.first && millis >= usual/2 {
		p.paid, p.until, p.long = p.millis, at, true
	}
	p.millis, p.first = p.millis+millis, true
}

// share is in percent; of the whole time if there was one long statement only.
func (p *periods) share(whole time.Duration) float64 {
	paid, until := p.paid, p.until
	if !p.long {
		paid, until = p.millis, whole
	}
	return 100 * paid / (1000 * until.Seconds())
}

// afresh does it with a store of its own that remembers nothing.
func (l *claimLook) afresh(ctx context.Context, do func(q *storeDesign) error) (err error) {
	other := *l.q
	if other.Store, err = postgres.Open(ctx, postgres.Options{Address: l.q.pool.Config().ConnString(), MaxConnections: 1}); err != nil {
		return err
	}
	return errors.Join(do(&other), other.Close()) // the pool of the statistics stays the first one's
}
