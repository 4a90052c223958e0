package queue

import (
	"sync"
	"time"

	"github.com/seqlease/seqlease"
)

// When a worker is told to slow down (L9).
const (
	// patience is how many failures in a row a worker may have.
	patience = 5
	// firstPause doubles with every further failure up to longestPause.
	firstPause   = 2 * time.Second
	longestPause = time.Minute
	// maxRemembered bounds the workers and attempts that a process remembers; the
	// oldest are forgotten.
	maxRemembered = 10_000
)

// worker is whose batches are counted.
type worker struct{ user, id string }

// failingWorkers counts, for this process alone, the failures of workers since
// their last stored result, and makes those wait that fail everything they touch,
// so that they don't use up the attempts of every entry. A failure is a lease that
// ran out, a give-back that counts, or a submission with every line invalid.
// Workers without a worker id aren't told apart and never wait. The process's
// clock only paces; what it says decides nothing about a lease (L11).
type failingWorkers struct {
	mu       sync.Mutex
	streaks  remembered[worker, streak]
	attempts remembered[seqlease.AttemptID, worker] // who claims are of: submissions don't say
}

// streak are the failures of a worker since its last stored result.
type streak struct {
	failures int
	until    time.Time // when it may claim again
}

func newFailingWorkers() *failingWorkers {
	return &failingWorkers{
		streaks:  remembered[worker, streak]{values: map[worker]streak{}},
		attempts: remembered[seqlease.AttemptID, worker]{values: map[seqlease.AttemptID]worker{}},
	}
}

// claimed notes whose an attempt is.
func (f *failingWorkers) claimed(id seqlease.AttemptID, w worker) {
	if w.id == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts.put(id, w)
}

// judged takes in what became of a user's submission: the attempts whose lines were
// all invalid, which is one failure of their worker however many they are, and
// those of which a result was stored. Anybody can name anybody's attempt, so that
// of another user says nothing of its worker.
func (f *failingWorkers) judged(user string, failed, succeeded []seqlease.AttemptID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.workersOf(user, failed) {
		f.count(w)
	}
	for w := range f.workersOf(user, succeeded) {
		if _, hasFailed := f.streaks.values[w]; hasFailed {
			f.streaks.put(w, streak{})
		}
	}
}

// workersOf returns the user's workers of those attempts that are known here; the lock is held.
func (f *failingWorkers) workersOf(user string, attempts []seqlease.AttemptID) map[worker]bool {
	workers := map[worker]bool{}
	for _, id := range attempts {
		if w, known := f.attempts.values[id]; known && w.user == user {
			workers[w] = true
		}
	}
	return workers
}

// leaseEnded counts a lease that ran out.
func (f *failingWorkers) leaseEnded(w worker) {
	if w.id == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(w)
}

// count adds a failure; the lock is held.
func (f *failingWorkers) count(w worker) {
	s := f.streaks.values[w]
	s.failures++
	if s.failures >= patience {
		s.until = time.Now().Add(pauseAfter(s.failures)) //nolint:forbidigo // paces a failing worker; says nothing about leases
	}
	f.streaks.put(w, s)
}

// pauseAfter is how long a worker waits after that many failures in a row.
func pauseAfter(failures int) time.Duration {
	if doublings := failures - patience; doublings < 5 {
		return min(longestPause, firstPause<<doublings)
	}
	return longestPause
}

// pause returns for how many whole seconds the worker should stay away; 0: it may claim.
func (f *failingWorkers) pause(w worker) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := time.Until(f.streaks.values[w].until)
	if left <= 0 {
		return 0
	}
	return (left + time.Second - 1).Truncate(time.Second)
}

// remembered is a map of the latest [maxRemembered] keys, by when they came first.
type remembered[K comparable, V any] struct {
	values map[K]V
	order  []K // a ring
	oldest int // index in a full ring
}

func (r *remembered[K, V]) put(key K, value V) {
	if _, known := r.values[key]; !known {
		if len(r.order) < maxRemembered {
			r.order = append(r.order, key)
		} else {
			delete(r.values, r.order[r.oldest])
			r.order[r.oldest] = key
			r.oldest = (r.oldest + 1) % maxRemembered
		}
	}
	r.values[key] = value
}
