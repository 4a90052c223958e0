package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
)

// The states in which the cost of a claim is looked at, one after the other.
const (
	stateShallow = "few waiting"
	stateDeep    = "many waiting"
	stateDone    = "few waiting, many processed"
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
		Rows: flatRows,
	}
}

func flatRows(r *measure.Results) []measure.Row {
	short, long := depths(r.Bench)
	few, many := measure.Count(short)+" waiting", measure.Count(long)
	claim, accepted := r.Of(nameClosed, stateShallow+costBuffers), r.Of(nameClosed, stateShallow+costAccept)
	list := []measure.Row{measure.Inform("buffers of a claim of 100, "+few, claim, "buffers",
		fmt.Sprintf("median of %d claims by the server's statistics; the entries' documents included; storing their results: %.0f", claims(r.Bench), accepted.Figure))}
	list = append(list, wholeRows(r, nameClosed, stateShallow, few)...)
	for _, of := range []struct{ contender, state, shown string }{
		{nameClosed, stateDeep, many + " waiting"},
		{nameClosed, stateDone, "after " + many + " were processed"},
		{nameOpen, stateDeep, many + " waiting, with an old snapshot"},
		{nameOpen, stateDone, "after " + many + " were processed, with an old snapshot all the time"},
	} {
		list = append(list,
			measure.AtMost("buffers of a claim: "+of.shown+" / "+few, over(r.Of(of.contender, of.state+costBuffers), claim), 1.2, 0, "×", ""),
			measure.AtMost("buffers of storing results: "+of.shown+" / "+few, over(r.Of(of.contender, of.state+costAccept), accepted), 1.2, 0, "×", ""),
			measure.Inform("slowest of those claims: "+of.shown, r.Of(of.contender, of.state+costMillis).Longest(), "ms",
				fmt.Sprintf("the largest touches %.0f buffers", r.Of(of.contender, of.state+costMost).Figure)))
		list = append(list, wholeRows(r, of.contender, of.state, of.shown)...)
	}
	return list
}

// claims is how many claims are looked at in each state.
func claims(b *measure.Bench) int { return b.Size(observedClaims, 5) }

// over is a figure to the median of another one.
func over(s, below measure.Spread) measure.Spread {
	s.Figure, s.Low, s.High = s.Figure/below.Figure, s.Low/below.Figure, s.High/below.Figure
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
		l := &claimLook{q: q, plans: p, sample: measure.Sample{}, claims: claims(b), before: b.Size(unobserved, 1), shareTime: shareFor(b)}
		few, many := depths(b)
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
	// shareTime is how long claims go on whose share is looked at.
	shareTime time.Duration
}

// cost is what claims and acceptances took.
type cost struct {
	claims, buffers       int64
	millis                float64 // of the claims
	general               int64   // claims by the statement that looks at everything it is told to
	generalMillis         float64
	acceptances, accepted int64 // how many, and their buffers
}

func (l *claimLook) fillAndLook(ctx context.Context, state string, n int) error {
	if err := l.q.fill(ctx, int64(l.filled)+1, n); err != nil {
		return err
	}
	l.filled += n
	var buffers, millis, accepted []float64
	for i := range l.before + l.claims {
		c, err := l.claimBy(ctx, l.q)
		if err != nil {
			return err
		}
		if i >= l.before {
			buffers, millis, accepted = append(buffers, float64(c.buffers)), append(millis, c.millis), append(accepted, float64(c.accepted))
		}
	}
	l.sample[state+costBuffers], l.sample[state+costAccept] = median(buffers), median(accepted)
	l.sample[state+costMost], l.sample[state+costMillis] = slices.Max(buffers), slices.Max(millis)
	if err := l.lookWhole(ctx, state); err != nil {
		return err
	}
	explained, err := l.plans.explain(ctx, state, l.q)
	l.numbers = append(l.numbers, explained...)
	return err
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// claimBy lets a store claim a batch and store its results, and says what that took.
func (l *claimLook) claimBy(ctx context.Context, q *storeDesign) (cost, error) {
	before, err := l.soFar(ctx)
	if err != nil {
		return cost{}, err
	}
	numbers, err := q.step(ctx)
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
	c = cost{
		c.claims - before.claims, c.buffers - before.buffers, c.millis - before.millis, c.general - before.general, c.generalMillis - before.generalMillis,
		c.acceptances - before.acceptances, c.accepted - before.accepted,
	}
	if c.claims != 1 || c.acceptances != 1 {
		err = fmt.Errorf("by the server's statistics a claim is %d statements and an acceptance %d, want 1 each", c.claims, c.acceptances)
	}
	return c, err
}

func (l *claimLook) soFar(ctx context.Context) (c cost, err error) {
	err = l.q.pool.QueryRow(ctx, statement("claim_cost")).Scan(&c.claims, &c.buffers, &c.millis, &c.general, &c.generalMillis, &c.acceptances, &c.accepted)
	return c, err
}
