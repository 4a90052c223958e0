package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease/bench/measure"
)

// The states in which the cost of a claim is looked at, one after the other.
const (
	stateShallow = "10,000 waiting"
	stateDeep    = "1,000,000 waiting"
	stateDone    = "10,000 waiting, 1,000,000 processed"
)

// The figures of a claim in a state; its name comes before them.
const (
	costBuffers = ": buffers"         // shared buffers that a claim touches, the median
	costMost    = ": buffers at most" // of the claim that touches most
	costMillis  = ": ms at most"      // of execution
	costAccept  = ": accept buffers"  // shared buffers that storing its results touches, the median
)

// observedClaims are looked at in each state, after some that aren't.
const (
	observedClaims = 40
	unobserved     = 10
)

// flat is about single claims, so it needs one round. Buffers hardly vary.
func flat() measure.Experiment {
	return measure.Experiment{
		Name: "cost of a claim", Rounds: 1,
		Contenders: []measure.Contender{
			{Name: nameClosed, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) { return costs(ctx, b, false) }},
			{Name: nameOpen, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) { return costs(ctx, b, true) }},
		},
		Rows: func(r *measure.Results) []measure.Row {
			few, fewAccepted := r.Of(nameClosed, stateShallow+costBuffers), r.Of(nameClosed, stateShallow+costAccept)
			list := []measure.Row{measure.Inform("buffers of a claim of 100, 10,000 waiting", few, "buffers",
				fmt.Sprintf("median of %d claims by the server's statistics; the entries' documents included; storing their results: %.0f", observedClaims, fewAccepted.Median))}
			for _, of := range []struct{ contender, state, shown string }{
				{nameClosed, stateDeep, "1,000,000 waiting"},
				{nameClosed, stateDone, "after 1,000,000 were processed"},
				{nameOpen, stateDeep, "1,000,000 waiting, with an old snapshot"},
				{nameOpen, stateDone, "after 1,000,000 were processed, with an old snapshot all the time"},
			} {
				list = append(list,
					measure.AtMost("buffers of a claim: "+of.shown+" / 10,000 waiting", over(r.Of(of.contender, of.state+costBuffers), few), 1.2, 0, "×", ""),
					measure.AtMost("buffers of storing results: "+of.shown+" / 10,000 waiting", over(r.Of(of.contender, of.state+costAccept), fewAccepted), 1.2, 0, "×", ""),
					measure.Inform("slowest of those claims: "+of.shown, r.Of(of.contender, of.state+costMillis), "ms",
						fmt.Sprintf("the largest touches %.0f buffers; once a second one looks at the whole queue", r.Of(of.contender, of.state+costMost).Median)))
			}
			return list
		},
	}
}

// over is a figure to the median of another one.
func over(s, below measure.Spread) measure.Spread {
	s.Median, s.Low, s.High = s.Median/below.Median, s.Low/below.Median, s.High/below.Median
	return s
}

// costs looks at claims in each state, in one database.
func costs(ctx context.Context, b *measure.Bench, withSnapshot bool) (s measure.Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	w := Work{Entry: 16, Result: 16}
	p, err := newPlans(ctx, b, withSnapshot)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	return withStore(ctx, p.bench, w, func(q *storeDesign, _ Work) (_ measure.Sample, err error) {
		if _, err := q.pool.Exec(ctx, statement("count_costs")); err != nil {
			return nil, err
		}
		l := &claimLook{q: q, plans: p, sample: measure.Sample{}, claims: b.Size(observedClaims, 5), before: b.Size(unobserved, 1)}
		few, many := b.Size(shallowDepth, shallowDepth/5), b.Size(deepDepth, deepDepth/200)
		if withSnapshot {
			end, err := q.openSnapshot(ctx)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, end()) }()
		}
		if err := l.fillAndLook(ctx, stateShallow, few); err != nil {
			return nil, err
		}
		if err := l.fillAndLook(ctx, stateDeep, many-few); err != nil {
			return nil, err
		}
		d, err := drain(ctx, q, untilEmpty)
		if err != nil {
			return nil, err
		}
		l.numbers = append(l.numbers, d.numbers...)
		if err := l.fillAndLook(ctx, stateDone, few); err != nil {
			return nil, err
		}
		return l.sample, errors.Join(eachOnce(l.numbers, len(l.numbers)), q.check(ctx, len(l.numbers), l.filled-len(l.numbers)))
	})
}

// claimLook is what was claimed and seen so far.
type claimLook struct {
	q       *storeDesign
	plans   *plans
	sample  measure.Sample
	before  int // claims that aren't observed
	claims  int // claims that are
	filled  int
	numbers []int64
}

// cost is what claims and acceptances took.
type cost struct {
	claims, buffers       int64
	millis                float64 // of the claims
	acceptances, accepted int64   // how many, and their buffers
}

func (l *claimLook) fillAndLook(ctx context.Context, state string, n int) error {
	if err := l.q.fill(ctx, int64(l.filled)+1, n); err != nil {
		return err
	}
	l.filled += n
	var buffers, millis, accepted []float64
	for i := range l.before + l.claims {
		c, err := l.claim(ctx)
		if err != nil {
			return err
		}
		if i >= l.before {
			buffers, millis, accepted = append(buffers, float64(c.buffers)), append(millis, c.millis), append(accepted, float64(c.accepted))
		}
	}
	middle := func(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }
	l.sample[state+costBuffers], l.sample[state+costAccept] = middle(buffers), middle(accepted)
	l.sample[state+costMost], l.sample[state+costMillis] = slices.Max(buffers), slices.Max(millis)
	explained, err := l.plans.explain(ctx, state, l.q)
	l.numbers = append(l.numbers, explained...)
	return err
}

// claim claims a batch, stores its results, and says what that took.
func (l *claimLook) claim(ctx context.Context) (cost, error) {
	before, err := l.soFar(ctx)
	if err != nil {
		return cost{}, err
	}
	numbers, err := l.q.step(ctx)
	if err != nil {
		return cost{}, err
	}
	if len(numbers) != Batch {
		return cost{}, fmt.Errorf("claimed %d entries of a long queue", len(numbers))
	}
	l.numbers = append(l.numbers, numbers...)
	c, err := l.soFar(ctx)
	if err != nil {
		return cost{}, err
	}
	c = cost{c.claims - before.claims, c.buffers - before.buffers, c.millis - before.millis, c.acceptances - before.acceptances, c.accepted - before.accepted}
	if c.claims != 1 || c.acceptances != 1 {
		err = fmt.Errorf("by the server's statistics a claim is %d statements and an acceptance %d, want 1 each", c.claims, c.acceptances)
	}
	return c, err
}

func (l *claimLook) soFar(ctx context.Context) (c cost, err error) {
	err = l.q.pool.QueryRow(ctx, statement("claim_cost")).Scan(&c.claims, &c.buffers, &c.millis, &c.acceptances, &c.accepted)
	return c, err
}
