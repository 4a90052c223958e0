package witness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// worker claims, and then does what workers do, well or badly.
type worker struct {
	*crew
	name string
}

// cutShort is in how many of a hundred calls the answer is not waited for.
const cutShort = 3

// work lasts as long as ctx, which cuts no call short.
func (c *crew) work(ctx context.Context, w *worker) error {
	for ctx.Err() == nil {
		b, err := w.claim(ctx, pick(c.options.Pipelines), pick([]int{1, 3, 8, 20}), chance(cutShort))
		switch {
		case err != nil:
			return err
		case len(b.parts) == 0:
			pause(ctx, time.Duration(rand.IntN(50))*time.Millisecond)
		default:
			err = w.handle(ctx, b)
		}
		if err == nil && chance(15) {
			err = w.disturb(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handle is one of the ways in which a claim goes on.
func (w *worker) handle(ctx context.Context, b batch) error {
	if bad, good := w.poisonous(b.lines); len(bad) > 0 && chance(90) {
		return errors.Join(w.giveBack(ctx, b, bad, true), w.send(ctx, b, good))
	}
	if len(b.parts) > 2 && chance(10) {
		return w.losePart(context.WithoutCancel(ctx), b)
	}
	switch n := rand.IntN(100); {
	case n < 40:
		return w.send(ctx, b, b.lines)
	case n < 50: // in two pieces
		half := len(b.lines) / 2
		return errors.Join(w.send(ctx, b, b.lines[:half]), w.send(ctx, b, b.lines[half:]))
	case n < 60: // about when the lease ends
		err := w.shorten(ctx, b, 30*time.Millisecond)
		pause(ctx, time.Duration(20+rand.IntN(20))*time.Millisecond)
		return errors.Join(err, w.send(ctx, b, b.lines))
	case n < 64: // never
		return nil
	case n < 72:
		return w.giveBack(ctx, b, nil, chance(20))
	case n < 80: // a part, and all the others' results with it
		some := b.lines[:1+rand.IntN(len(b.lines))]
		return errors.Join(w.giveBack(ctx, b, some, chance(20)), w.send(ctx, b, b.lines))
	case n < 92:
		err := errors.Join(w.shorten(ctx, b, 30*time.Millisecond), w.renew(ctx, b))
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
		return errors.Join(err, w.renew(ctx, b), w.send(ctx, b, b.lines))
	default: // for somebody else's ears
		other := b
		other.user = "eve"
		_, err := w.submit(ctx, other, other.lines, false)
		return errors.Join(err, w.renew(ctx, other), w.giveBack(ctx, other, nil, false), w.send(ctx, b, b.lines))
	}
}

// disturb does with an earlier claim, of whomever, what is too late or too much.
func (w *worker) disturb(ctx context.Context) error {
	b, any := w.recent()
	if !any {
		return nil
	}
	switch rand.IntN(4) {
	case 0:
		return w.renew(ctx, b)
	case 1:
		return w.giveBack(ctx, b, nil, false)
	case 2: // other results
		_, err := w.submit(ctx, b, w.lines(b), chance(50))
		return err
	default:
		_, err := w.submit(ctx, b, b.lines, chance(50))
		return err
	}
}

// send submits until an answer comes, now and then with flaws first and once more at the end.
func (w *worker) send(ctx context.Context, b batch, lines []witness.Part) error {
	if len(lines) == 0 {
		return nil
	}
	if chance(15) {
		if _, err := w.submit(ctx, b, w.spoil(lines), chance(50)); err != nil {
			return err
		}
	}
	for {
		answered, err := w.submit(ctx, b, lines, chance(25))
		if err != nil {
			return err
		}
		if answered {
			break
		}
	}
	if chance(20) {
		_, err := w.submit(ctx, b, lines, chance(25))
		return err
	}
	return nil
}

// spoil makes one line one of an unknown attempt, and may send one twice.
func (w *worker) spoil(lines []witness.Part) []witness.Part {
	spoilt := slices.Clone(lines)
	spoilt[rand.IntN(len(spoilt))].Attempt = seqlease.NewAttemptID()
	if chance(50) {
		again := spoilt[rand.IntN(len(spoilt))]
		again.Flawed = true
		spoilt = append(spoilt, again)
	}
	return spoilt
}

// lines are fresh results for all that was claimed.
func (w *worker) lines(b batch) []witness.Part {
	lines := make([]witness.Part, len(b.parts))
	for i, part := range b.parts {
		lines[i] = witness.Part{AccessionVersion: part.AccessionVersion, Attempt: b.attempt, Tag: w.tag("result-")}
	}
	return lines
}

// hurry returns a context that may end before the answer comes.
func hurry(ctx context.Context, cut bool) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if cut {
		return context.WithTimeout(ctx, time.Duration(100+rand.IntN(4000))*time.Microsecond)
	}
	return context.WithTimeout(ctx, time.Minute)
}

// event begins a call.
func (w *worker) event(kind witness.Kind, b batch) witness.Event {
	return witness.Event{Kind: kind, Client: w.name, Call: w.Now(), Pipeline: b.v, User: b.user, Attempt: b.attempt}
}

// finish records a call by its error, and says whether an answer came. Errors
// that no fault of the client explains end the test.
func (w *worker) finish(ctx context.Context, e witness.Event, err error) (answered bool, fault error) {
	switch {
	case err == nil:
	case errors.Is(err, seqlease.ErrLeaseLost):
		e.Refused = true
	case ctx.Err() != nil:
		e.Unanswered = true
	default:
		return false, fmt.Errorf("%s: %s: %w", w.name, &e, err)
	}
	w.did(e)
	return !e.Unanswered, nil
}

func (w *worker) claim(ctx context.Context, v seqlease.PipelineVersion, n int, cut bool) (batch, error) {
	b := batch{v: v, user: pick(users())}
	ctx, cancel := hurry(ctx, cut)
	defer cancel()
	e := w.event(witness.Claim, b)
	e.Asked, e.Lease = n, w.lease
	var err error
	b.claimed, err = pick(w.fronts).claim(ctx, v, n, e.Lease, b.user)
	e.Attempt, e.Until, e.Parts = b.attempt, b.until, b.parts
	answered, fault := w.finish(ctx, e, err)
	if fault != nil || !answered {
		return batch{}, fault
	}
	b.lines = w.lines(b)
	if len(b.parts) > 0 {
		w.remember(b)
	}
	return b, nil
}

func (w *worker) submit(ctx context.Context, b batch, lines []witness.Part, skip bool) (answered bool, err error) {
	ctx, cancel := hurry(ctx, chance(cutShort))
	defer cancel()
	e := w.event(witness.Submit, b)
	e.Parts = slices.Clone(lines)
	answers, err := pick(w.fronts).submit(ctx, b.v, b.user, lines, skip)
	for i, answer := range answers {
		e.Parts[i].Answer = answer
	}
	return w.finish(ctx, e, err)
}

func (w *worker) renew(ctx context.Context, b batch) error {
	ctx, cancel := hurry(ctx, chance(cutShort))
	defer cancel()
	e := w.event(witness.Renew, b)
	e.Lease = w.lease
	answer, err := pick(w.fronts).renew(ctx, b.attempt, b.user, e.Lease)
	e.Until, e.Count = answer.until, answer.held
	for _, av := range answer.lost {
		e.Parts = append(e.Parts, witness.Part{AccessionVersion: av})
	}
	_, err = w.finish(ctx, e, err)
	return err
}

// giveBack gives back what the lines are about, or all.
func (w *worker) giveBack(ctx context.Context, b batch, lines []witness.Part, counted bool) error {
	ctx, cancel := hurry(ctx, chance(cutShort))
	defer cancel()
	e := w.event(witness.GiveBack, b)
	e.Counted = counted
	var entries []seqlease.AccessionVersion
	for _, line := range lines {
		entries = append(entries, line.AccessionVersion)
		e.Parts = append(e.Parts, witness.Part{AccessionVersion: line.AccessionVersion})
	}
	var err error
	e.Count, err = pick(w.fronts).giveBack(ctx, b.attempt, b.user, entries, counted)
	_, err = w.finish(ctx, e, err)
	return err
}
