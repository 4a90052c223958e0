package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
)

// queueKey names what a claim waits for.
type queueKey struct {
	organism seqlease.Organism
	version  seqlease.PipelineVersion
}

// waitingRoom is where claims wait that found nothing. They hold nothing of the
// store; one look a second at the change counters serves all of them
// ([waitingRoom.run]), and none is taken while nobody waits.
//
// A change wakes one of those that wait for the same queue. If it gets entries it
// wakes the next, as there may be more; so one entry costs one claim that gets it and
// one that finds nothing, however many wait.
type waitingRoom struct {
	mu      sync.Mutex
	lines   map[queueKey]*waitingLine
	rings   map[seqlease.Organism]uint64 // how often the bell rang
	stopped bool
	gone    chan struct{} // closed when stopped
	filled  chan struct{} // holds a token while somebody may wait
}

// waitingLine are the claims that wait for one queue, the first came first.
type waitingLine struct {
	waiters []*waiter
	mark    string // of the latest empty answer
	busy    bool   // one has its turn: it was woken and hasn't said what it found
	again   bool   // something changed meanwhile
}

// waiter is one claim that waits.
type waiter struct {
	key   queueKey
	woken chan struct{} // closed when it is its turn
}

func newWaitingRoom() *waitingRoom {
	return &waitingRoom{
		lines: map[queueKey]*waitingLine{}, rings: map[seqlease.Organism]uint64{},
		gone: make(chan struct{}), filled: make(chan struct{}, 1),
	}
}

// claimOrWait claims, and waits for its turn and claims again until it has
// entries, or the time is over: then it claims a last time, so that nothing is
// hidden from it by whatever kept it from being woken.
func (q *Queue) claimOrWait(ctx context.Context, r ClaimRequest) (Lease, error) {
	timeout := time.NewTimer(r.Wait)
	defer timeout.Stop()
	room, key := q.waiting, queueKey{r.Organism, r.PipelineVersion}
	rang := room.heard(key)
	lease, err := q.claimOnce(ctx, r)
	if err != nil || len(lease.Entries) > 0 {
		return lease, err
	}
	for w := room.enter(key, lease.Mark, rang); ; w = room.enterAgain(key, lease.Mark) {
		select {
		case <-w.woken:
		case <-timeout.C:
			room.leave(w)
			return q.claimOnce(ctx, r)
		case <-ctx.Done():
			room.leave(w)
			return Lease{}, callerLeft(r, ctx.Err())
		case <-room.gone:
			return lease, nil
		}
		lease, err = q.claimOnce(ctx, r)
		if err != nil || len(lease.Entries) > 0 {
			room.report(key, err == nil)
			return lease, err
		}
	}
}

// heard returns how often the bell rang. What rings after it may be missing from a
// claim that began before.
func (w *waitingRoom) heard(key queueKey) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rings[key.organism]
}

// enter lets a claim wait that was answered empty with that mark, when the bell had
// rung that often.
func (w *waitingRoom) enter(key queueKey, mark string, rang uint64) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[key]
	if line == nil {
		line = &waitingLine{}
		w.lines[key] = line
	}
	entering := line.add(key, mark)
	select {
	case w.filled <- struct{}{}:
	default:
	}
	if w.rings[key.organism] != rang {
		line.wake()
	}
	return entering
}

// enterAgain lets a claim wait again that had its turn and found nothing.
func (w *waitingRoom) enterAgain(key queueKey, mark string) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[key]
	entering := line.add(key, mark)
	line.end(false)
	return entering
}

// report ends the turn of a claim that got entries, or failed: then the next look
// at the counters wakes another.
func (w *waitingRoom) report(key queueKey, entries bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[key].end(entries)
	w.tidy(key)
}

// leave takes a claim out that waits no more. If it was woken at the same moment,
// its turn goes to the next.
func (w *waitingRoom) leave(leaving *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := w.lines[leaving.key]
	for i, other := range line.waiters {
		if other == leaving {
			line.waiters = slices.Delete(line.waiters, i, i+1)
			w.tidy(leaving.key)
			return
		}
	}
	line.end(true)
	w.tidy(leaving.key)
}

// tidy forgets a line in which nobody waits.
func (w *waitingRoom) tidy(key queueKey) {
	if line := w.lines[key]; len(line.waiters) == 0 && !line.busy {
		delete(w.lines, key)
	}
}

// wake gives the first its turn, or notes that something changed if another has it.
// The lock is held.
func (l *waitingLine) wake() {
	if l.busy {
		l.again = true
		return
	}
	if len(l.waiters) == 0 {
		return
	}
	first := l.waiters[0]
	l.waiters = l.waiters[1:]
	l.busy = true
	close(first.woken)
}

// end ends the turn of the claim that has it. The lock is held.
func (l *waitingLine) end(wakeNext bool) {
	wakeNext = wakeNext || l.again
	l.busy, l.again = false, false
	if wakeNext {
		l.wake()
	}
}

// add puts a claim at the end of the line. The lock is held.
func (l *waitingLine) add(key queueKey, mark string) *waiter {
	w := &waiter{key: key, woken: make(chan struct{})}
	l.waiters = append(l.waiters, w)
	l.mark = mark
	return w
}

// ring answers the bell: each queue of the organism wakes one that waits.
func (w *waitingRoom) ring(o seqlease.Organism) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rings[o]++
	for key, line := range w.lines {
		if key.organism == o {
			line.wake()
		}
	}
}
