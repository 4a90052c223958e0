//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// stopLimit is how long a process may take to stop when asked: requests may
// wait for a frozen database for as long.
const stopLimit = 40 * time.Second

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}

// takeWorker picks a worker that no other fault has. Give it back with busy.Unlock.
func (f *Fleet) takeWorker(random *rand.Rand, fits func(*worker) bool) (*worker, error) {
	for _, i := range random.Perm(len(f.workers)) {
		if w := f.workers[i]; fits(w) && w.busy.TryLock() {
			return w, nil
		}
	}
	return nil, errBusy
}

func anyWorker(*worker) bool  { return true }
func renews(w *worker) bool   { return !w.python }
func isPython(w *worker) bool { return w.python }

func (f *Fleet) takeServer(random *rand.Rand) (*server, error) {
	for _, i := range random.Perm(len(f.servers)) {
		if f.servers[i].busy.TryLock() {
			return f.servers[i], nil
		}
	}
	return nil, errBusy
}

func (f *Fleet) killWorker(_ context.Context, random *rand.Rand) error {
	w, err := f.takeWorker(random, anyWorker)
	if err != nil {
		return err
	}
	defer w.busy.Unlock()
	err = w.running().kill()
	held, readErr := w.working()
	f.tell("%s killed with %d entries", w.running().name, len(held))
	return errors.Join(err, readErr, w.start())
}

// freezeWorker stops a worker at work until its lease is over (B002).
func (f *Fleet) freezeWorker(ctx context.Context, random *rand.Rand) error {
	return f.freezeUntilLost(ctx, random, renews)
}

// freezeUnaware does the same to a worker that doesn't renew: it sends its
// results too late.
func (f *Fleet) freezeUnaware(ctx context.Context, random *rand.Rand) error {
	return f.freezeUntilLost(ctx, random, isPython)
}

func (f *Fleet) freezeUntilLost(ctx context.Context, random *rand.Rand, fits func(*worker) bool) error {
	w, err := f.takeWorker(random, fits)
	if err != nil {
		return err
	}
	defer w.busy.Unlock()
	if !f.mayFreeze() {
		return errBusy
	}
	defer f.frozen.Add(-1)
	p := w.running()
	held, err := f.stopAtWork(ctx, w)
	if err != nil {
		return errors.Join(errBusy, p.signal(syscall.SIGCONT)) // nothing was waiting
	}
	f.tell("%s frozen with %d entries", p.name, len(held))
	// A stopped worker can't renew: its lease is over when others have claimed
	// something of it, and a lease's length later whether or not they have (L3, L4).
	over := time.Now().Add((leaseSeconds + 5) * time.Second)
	err = await(ctx, "the lease of "+p.name+" to end", time.Minute, func(context.Context) (bool, string) {
		left, err := f.unclaimedSince(held)
		return err == nil && left < len(held) || time.Now().After(over), fmt.Sprintf("nobody has claimed its entries (%v)", err)
	})
	f.tell("%s goes on", p.name)
	return errors.Join(err, p.signal(syscall.SIGCONT))
}

// stopAtWork stops a worker that is at work, and returns what it holds. After an
// error it may be stopped or not.
func (f *Fleet) stopAtWork(ctx context.Context, w *worker) (held []evidence.Held, err error) {
	p := w.running()
	waited := await(ctx, p.name+" to be at work when it is stopped", leaseSeconds*time.Second, func(context.Context) (bool, string) {
		if held, err = w.working(); err != nil || len(held) == 0 {
			return false, fmt.Sprintf("it has nothing (%v)", err)
		}
		if err := p.signal(syscall.SIGSTOP); err != nil {
			return false, err.Error()
		}
		// What it wrote until it stopped shows whether it was in time.
		if held, err = w.working(); err == nil && len(held) > 0 {
			return true, ""
		}
		return false, fmt.Sprintf("it had just finished (%v)", errors.Join(err, p.signal(syscall.SIGCONT)))
	})
	return held, errors.Join(waited, err)
}

// mayFreeze counts a worker that is about to be frozen, unless half of them are:
// somebody has to take over what they hold.
func (f *Fleet) mayFreeze() bool {
	if int(f.frozen.Add(1)) <= len(f.workers)/2 {
		return true
	}
	f.frozen.Add(-1)
	return false
}

// unclaimedSince counts the entries that no worker has claimed after the given hold.
func (f *Fleet) unclaimedSince(held []evidence.Held) (int, error) {
	lines, err := f.lines()
	if err != nil {
		return 0, err
	}
	claimed := map[seqlease.AccessionVersion]float64{} // when it was claimed last
	var since float64
	for i := range lines {
		l := &lines[i]
		if l.Call != evidence.CallClaim {
			continue
		}
		for _, h := range l.Entries {
			if h.AttemptID == held[0].AttemptID {
				since = l.Got
			} else {
				claimed[h.AccessionVersion] = max(claimed[h.AccessionVersion], l.Got)
			}
		}
	}
	left := 0
	for _, h := range held {
		if claimed[h.AccessionVersion] <= since {
			left++
		}
	}
	return left, nil
}

// pauseWorker stops a worker for less or little more than its lease, wherever it is.
func (f *Fleet) pauseWorker(ctx context.Context, random *rand.Rand) error {
	w, err := f.takeWorker(random, anyWorker)
	if err != nil {
		return err
	}
	defer w.busy.Unlock()
	return f.freeze(ctx, w.running(), between(random, time.Second, (leaseSeconds+2)*time.Second))
}

func (f *Fleet) freeze(ctx context.Context, p *process, d time.Duration) error {
	f.tell("%s frozen for %s", p.name, d.Round(100*time.Millisecond))
	err := p.signal(syscall.SIGSTOP)
	pause(ctx, d)
	return errors.Join(err, p.signal(syscall.SIGCONT))
}

func (f *Fleet) killServer(ctx context.Context, random *rand.Rand) error {
	s, err := f.takeServer(random)
	if err != nil {
		return err
	}
	defer s.busy.Unlock()
	f.tell("%s killed", s.name)
	err = s.running().kill()
	pause(ctx, between(random, 0, time.Second))
	return errors.Join(err, s.start(ctx))
}

func (f *Fleet) restartServer(ctx context.Context, random *rand.Rand) error {
	s, err := f.takeServer(random)
	if err != nil {
		return err
	}
	defer s.busy.Unlock()
	if disk, ok := f.store.(*sqliteStore); ok {
		// A server that can't write its last pages says so by its exit code.
		if !disk.busy.TryLock() {
			return errBusy
		}
		defer disk.busy.Unlock()
	}
	f.tell("%s restarted", s.name)
	return errors.Join(s.running().terminate(ctx, stopLimit), s.start(ctx))
}

// freezeServer stops a server, as a machine that sleeps does (B049).
func (f *Fleet) freezeServer(ctx context.Context, random *rand.Rand) error {
	s, err := f.takeServer(random)
	if err != nil {
		return err
	}
	defer s.busy.Unlock()
	return f.freeze(ctx, s.running(), between(random, 3*time.Second, (leaseSeconds+2)*time.Second))
}

func (f *Fleet) resetConnections(_ context.Context, _ *rand.Rand) error {
	f.tell("all connections reset")
	for _, s := range f.servers {
		s.proxy.ResetAll()
	}
	return nil
}
