//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// freezeAll stops every worker until the lease of one that doesn't renew is just
// over, and lets that one go on first: what it holds nobody has claimed, and its results are
// refused for the lease end alone (L3).
func (f *Fleet) freezeAll(ctx context.Context, random *rand.Rand) error {
	taken, err := f.takeAllWorkers()
	defer func() {
		for _, w := range taken {
			w.busy.Unlock()
		}
	}()
	if err != nil {
		return err
	}
	var unaware []*worker
	for _, w := range taken {
		if isPython(w) {
			unaware = append(unaware, w)
		}
	}
	if len(unaware) == 0 {
		return errBusy
	}
	first := unaware[random.IntN(len(unaware))]
	stopped := []*process{first.running()}
	defer func() {
		for _, p := range stopped {
			_ = p.signal(syscall.SIGCONT) // the others' time comes at the end, and everybody's after an error
		}
	}()
	held, err := f.stopAtWork(ctx, first)
	if err != nil {
		return errors.Join(errBusy, err)
	}
	for _, w := range taken {
		if w != first {
			stopped = append(stopped, w.running())
			if err := w.running().signal(syscall.SIGSTOP); err != nil {
				return err
			}
		}
	}
	f.tell("every worker frozen, %s with %d entries", first.running().name, len(held))
	over, err := leaseOver(first, held[0])
	if err != nil {
		return err
	}
	pause(ctx, over)
	f.tell("%s goes on", first.running().name)
	return errors.Join(first.running().signal(syscall.SIGCONT), f.awaitSent(ctx, first, held[0]))
}

// lateBy is how much later than its lease end the first worker goes on: after the
// end by every reckoning, and before a sweep takes its entries away.
const lateBy = 100 * time.Millisecond

// leaseOver is how long it takes until the worker's lease has just ended.
func leaseOver(w *worker, held evidence.Held) (time.Duration, error) {
	lines, err := w.lines()
	if err != nil {
		return 0, err
	}
	var got float64
	for i := range lines {
		for _, h := range lines[i].Entries {
			if lines[i].Call == evidence.CallClaim && h.AttemptID == held.AttemptID {
				got = lines[i].Got
			}
		}
	}
	left := got + leaseSeconds - evidence.Uptime()
	return time.Duration(left*float64(time.Second)) + lateBy, nil
}

// takeAllWorkers takes as many as it can; without all of them it is errBusy.
func (f *Fleet) takeAllWorkers() (taken []*worker, err error) {
	for _, w := range f.workers {
		if !w.busy.TryLock() {
			return taken, errBusy
		}
		taken = append(taken, w)
	}
	return taken, nil
}

// awaitSent waits until the worker has sent a result, or for as long as a call takes.
func (f *Fleet) awaitSent(ctx context.Context, w *worker, of evidence.Held) error {
	over := time.Now().Add(leaseSeconds * time.Second)
	return await(ctx, w.running().name+" to send its results", time.Minute, func(context.Context) (bool, string) {
		lines, err := w.lines()
		if err != nil {
			return false, err.Error()
		}
		for i := range lines {
			for _, h := range lines[i].Entries {
				if lines[i].Call == evidence.CallSubmit && lines[i].Status != 0 && h.AttemptID == of.AttemptID {
					return true, ""
				}
			}
		}
		return time.Now().After(over), fmt.Sprintf("%d lines", len(lines))
	})
}
