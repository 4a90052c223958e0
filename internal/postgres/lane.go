package postgres

import (
	"sync"
	"time"

	"github.com/seqlease/seqlease"
)

const (
	// scanInterval is how often at least a claim looks at the whole queue, whatever
	// this process remembers: nothing is overlooked for longer.
	scanInterval = time.Second
	// shortestLease is the least that a claim may ask for (protocol).
	shortestLease = 10 * time.Second
)

// laneKey names the queue of one pipeline version of one organism.
type laneKey struct {
	organism int32
	version  seqlease.PipelineVersion
}

// lane is what this process remembers of one queue, to spare the database
// wading through the dead rows of claimed tickets and ended leases. It only
// steers where claims look first; what they find is decided by the database.
type lane struct {
	mu sync.Mutex
	// after is the lower bound: claims look beyond this entry id first.
	after int64
	// scannedAt is when the last look at the whole queue began, on this process's
	// monotonic clock.
	scannedAt time.Time
	// probeFrom is a lower bound for the ends of leases that can have run out.
	probeFrom time.Time
	// nothing proves that the queue was empty when it was last looked at; nil if it
	// had something.
	nothing *emptiness
	// scan is the shared look at a queue that is believed to be empty, or nil.
	scan  *sharedScan
	scans int // how many shared looks have begun
}

// emptiness says that nothing was waiting, and until when that can be trusted:
// as long as the mark is the same and no lease has run out.
type emptiness struct {
	mark        string
	earliestEnd *time.Time // of the leases; nil: there were none
}

func (e *emptiness) holds(mark string, now time.Time) bool {
	return e != nil && e.mark == mark && (e.earliestEnd == nil || now.Before(*e.earliestEnd))
}

// sharedScan is a look at the whole queue that others wait for.
type sharedScan struct {
	number int
	done   chan struct{} // closed when mark and empty are set
	empty  bool
	mark   string
}

// look says where a claim looks.
type look struct {
	whole     bool      // at all tickets and all ended leases
	after     int64     // beyond this id first
	probeFrom time.Time // zero: at ended leases of any age
}

// step is what a claim does next.
type step struct {
	look look
	peek *emptiness  // not nil: compare the mark with this first
	wait *sharedScan // not nil: wait for its end
	lead *sharedScan // not nil: the look is shared, and must be ended
}

// lane returns what is remembered of the queue.
func (s *Store) lane(organism int32, version seqlease.PipelineVersion) *lane {
	key := laneKey{organism, version}
	s.mu.RLock()
	l := s.lanes[key]
	s.mu.RUnlock()
	if l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l = s.lanes[key]; l == nil {
		l = &lane{}
		s.lanes[key] = l
	}
	return l
}

// arrive returns the number of shared looks so far: only those that begin later
// can answer for who arrives now.
func (l *lane) arrive() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scans
}

// next says what a claim does next. distrust means that the mark didn't prove
// the queue empty.
func (l *lane) next(distrust bool) step {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now() //nolint:forbidigo // paces looks at the queue; says nothing about leases
	due := l.scannedAt.IsZero() || now.Sub(l.scannedAt) >= scanInterval
	whole := look{whole: true}
	switch {
	case l.nothing == nil && !due:
		return step{look: look{after: l.after, probeFrom: l.probeFrom}}
	case l.nothing == nil:
		l.scannedAt = now
		return step{look: whole}
	case !due && !distrust:
		return step{peek: l.nothing}
	case l.scan != nil:
		return step{wait: l.scan}
	default:
		l.scannedAt = now
		l.scans++
		l.scan = &sharedScan{number: l.scans, done: make(chan struct{})}
		return step{look: whole, lead: l.scan}
	}
}

// end ends a shared look. found is nil if it failed.
func (l *lane) end(scan *sharedScan, found *scanned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found != nil {
		scan.empty, scan.mark = len(found.entries) == 0, found.mark
	}
	l.scan = nil
	close(scan.done)
}

// note moves the bounds by what a claim of n entries found.
func (l *lane) note(at look, n int, found *scanned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case at.whole && found.lastAhead > 0:
		// Everything up to there is taken or locked, whatever was believed.
		l.after = found.lastAhead
	case found.lastBehind > 0 && len(found.entries) >= n:
		// There may be more behind the bound.
		l.after = found.lastBehind
	case at.after <= l.after: // else the bound was moved back meanwhile
		l.after = max(l.after, found.lastAhead)
	}
	if found.firstSurplus > 0 {
		l.after = min(l.after, found.firstSurplus-1)
	}
	l.nothing = nil
	if len(found.entries) == 0 {
		l.nothing = &emptiness{mark: found.mark, earliestEnd: found.earliestEnd}
	}
	// A claim that was committing when none was found to have ended began at most
	// that long before and ends at the earliest after the shortest lease.
	if (at.whole || len(found.entries) < n) && found.ended == 0 {
		if from := found.now.Add(-shortestLease); from.After(l.probeFrom) {
			l.probeFrom = from
		}
	}
}

// moveBack makes claims look from the id on, since something was put there.
func (l *lane) moveBack(first int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.after = min(l.after, first-1)
}
