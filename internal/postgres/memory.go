package postgres

import (
	"math"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

const (
	// scanInterval is how often at least a claim looks at the whole queue, whatever
	// this process remembers: nothing is overlooked for longer.
	scanInterval = time.Second
	// changedInterval is how often a claim does so while the mark shows that
	// something was added.
	changedInterval = 100 * time.Millisecond
	// restFactor keeps looks at the whole queue to a twentieth of the time: while an old
	// transaction is open, one may wade through hundreds of thousands of dead tickets.
	// longestRest bounds how long something is overlooked then, whatever a look takes:
	// beyond a quarter of a second it takes more than that share.
	restFactor  = 20
	longestRest = 5 * time.Second
	// replacingInterval is how long results are expected to replace others after some
	// did.
	replacingInterval = time.Second
	// shortestLease is the least that a claim may ask for (protocol).
	shortestLease = 10 * time.Second
	// turnInterval is how many claims it takes until suspects are looked for first.
	turnInterval = 4
	// claimableLanes are lanes 0 to 3.
	claimableLanes = int(queue.LaneSpent)
)

// memoryKey names the queue of one pipeline version of one organism.
type memoryKey struct {
	organism int32
	version  seqlease.PipelineVersion
}

// spot is where a ticket lies in its lane.
type spot struct{ rank, id int64 }

var (
	firstSpot = spot{math.MinInt64, math.MinInt64}
	lastSpot  = spot{math.MaxInt64, math.MaxInt64}
)

func (p spot) before(q spot) bool { return p.rank < q.rank || p.rank == q.rank && p.id < q.id }

// bounds are the lower bounds of the lanes: claims look beyond them first.
type bounds [claimableLanes]spot

// memory is what this process remembers of one queue, to spare the database
// wading through the dead rows of claimed tickets and ended leases. It only
// steers where claims look first; what they find is decided by the database.
type memory struct {
	mu    sync.Mutex
	after bounds
	// scannedAt is when the last look at the whole queue began, on this process's
	// monotonic clock; scannedMark is the mark that it found, and newestMark the
	// newest that was seen.
	scannedAt               time.Time
	scannedMark, newestMark string
	// rest is how long the last one has to be ago, by what it took.
	rest time.Duration
	// probedAt is when a claim last looked for ended leases, whatever was waiting.
	probedAt time.Time
	// probeFrom is a lower bound for the ends of leases that can have run out.
	probeFrom time.Time
	// nothing proves that the queue was empty when it was last looked at; nil if it
	// had something.
	nothing *emptiness
	// scan is the shared look at a queue that is believed to be empty, or nil.
	scan  *sharedScan
	scans int // how many shared looks have begun
	looks int // how many looks have begun, to give suspects their turn
	// turnedAt is when the last turn of each lane of suspects began that looked at
	// the whole lane.
	turnedAt [claimableLanes]time.Time
	// noneAt is the mark at which a look at the whole of a lane of suspects found none
	// in it, or empty: whatever puts one there changes the mark.
	noneAt [claimableLanes]string
	// lastTurnAt is when the last turn of each lane of suspects began, and empty says that
	// the one that was noted last found none.
	lastTurnAt [claimableLanes]time.Time
	empty      [claimableLanes]bool
	// exhaustedAt is the mark at which a look at all fresh entries and bulk work found
	// none; empty: that isn't known.
	exhaustedAt string
	// replacedAt is when results were accepted last that replaced others.
	replacedAt time.Time
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
	done   chan struct{} // closed when what follows is set
	empty  bool
	fresh  bool // it found fresh entries or bulk work
	paused bool
	mark   string
}

// step is what a claim does next.
type step struct {
	look look
	peek *emptiness  // not nil: compare the mark with this first
	wait *sharedScan // not nil: wait for its end
	lead *sharedScan // not nil: the look is shared, and must be ended
}

// isLook says that the claim looks for itself alone.
func (do step) isLook() bool { return do.peek == nil && do.wait == nil && do.lead == nil }

// remembered returns what is remembered of the queue; nil: nothing.
func (s *Store) remembered(organism int32, version seqlease.PipelineVersion) *memory {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.memories[memoryKey{organism, version}]
}

// forget drops what is remembered of a queue that there isn't: anybody may name any
// version.
func (s *Store) forget(organism int32, version seqlease.PipelineVersion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.memories, memoryKey{organism, version})
}

// memory returns what is remembered of the queue, and remembers from then on.
func (s *Store) memory(organism int32, version seqlease.PipelineVersion) *memory {
	m := s.remembered(organism, version)
	if m != nil {
		return m
	}
	key := memoryKey{organism, version}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m = s.memories[key]; m == nil {
		m = &memory{}
		s.memories[key] = m
	}
	return m
}

// arrive returns the number of shared looks so far: only those that begin later
// can answer for who arrives now.
func (m *memory) arrive() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scans
}

// next says what a claim does next. distrust means that the mark didn't prove
// the queue empty.
func (m *memory) next(distrust bool) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now() //nolint:forbidigo // paces looks at the queue; says nothing about leases
	since := now.Sub(m.scannedAt)
	due := m.scannedAt.IsZero() || since >= max(scanInterval, m.rest) || m.newestMark > m.scannedMark && since >= max(changedInterval, m.rest)
	switch {
	case m.nothing == nil && !due:
		return step{look: m.look(false, now)}
	case m.nothing == nil:
		m.scannedAt = now
		return step{look: m.look(true, now)}
	case !due && !distrust:
		return step{peek: m.nothing}
	case m.scan != nil:
		return step{wait: m.scan}
	default:
		m.scannedAt = now
		return m.lead(m.look(true, now))
	}
}

// share makes a look for all claims that found nothing fresh, or has the claim wait for
// the one that is under way.
func (m *memory) share(l look) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scan != nil {
		return step{wait: m.scan}
	}
	return m.lead(l)
}

// lead begins a shared look.
func (m *memory) lead(l look) step {
	m.scans++
	m.scan = &sharedScan{number: m.scans, done: make(chan struct{})}
	return step{look: l, lead: m.scan}
}

// look begins a look. Every fourth begins with the suspects, those in batches and
// those alone by turns, so that fresh entries don't starve them. Once a second such
// a turn looks at the whole lane: looks at the whole queue end with what is fresh,
// and however many there are, none of them need be a turn. In between, a lane that was
// empty is left out while it has the same mark, and whatever the mark for as long as
// looks at the whole queue are: where people add entries all the time, a quarter of all
// claims would be turns, each of which goes alone.
func (m *memory) look(whole bool, now time.Time) look {
	l := look{whole: whole, after: m.after}
	if !whole {
		l.probeFrom = m.probeFrom
	}
	if l.probe = whole || now.Sub(m.probedAt) >= scanInterval; l.probe {
		m.probedAt = now
	}
	switch turn := m.looks % (2 * turnInterval); {
	case turn == turnInterval:
		l.turn = queue.LaneSuspect
	case turn == 0 && m.looks > 0:
		l.turn = queue.LaneAlone
	}
	switch {
	case l.turn == 0:
	case now.Sub(m.turnedAt[l.turn]) >= scanInterval:
		l.wholeTurn, m.turnedAt[l.turn] = true, now
	case !whole && m.noneAt[l.turn] != "" && m.noneAt[l.turn] == m.newestMark:
		l.turn = 0 // there is none
	case !whole && m.empty[l.turn] && now.Sub(m.lastTurnAt[l.turn]) < max(changedInterval, m.rest):
		l.turn = 0
	}
	m.lastTurnAt[l.turn] = now
	m.looks++
	return l
}

// catchUp has a look begin at the present bounds.
func (m *memory) catchUp(l *look) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.after, l.exhausted = m.after, m.exhaustedAt
}

// noteEnd remembers that a claim found no fresh entries or bulk work: whatever is put
// there changes the mark. With a turn of suspects it may not have looked. One that
// found few needn't have come to the end: tickets without an entry count for its
// limit, too.
func (m *memory) noteEnd(at look, found *scanned) {
	if at.turn != 0 || found.paused || found.surplusRank != nil || found.count() > 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exhaustedAt = found.mark
}

// end ends a shared look. found is nil if it failed.
func (m *memory) end(scan *sharedScan, found *claimed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found != nil {
		none := reached{}
		scan.empty, scan.mark, scan.paused = len(found.entries) == 0, found.mark, found.paused
		scan.fresh = found.reached[queue.LaneFresh] != none || found.reached[queue.LaneBulk] != none
	}
	m.scan = nil
	close(scan.done)
}

// note moves the bounds by what a claim of n entries found.
func (m *memory) note(at look, n int, found *scanned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for lane := range m.after {
		m.after[lane] = nextBound(m.after[lane], at, queue.Lane(lane), n, found)
	}
	if at.turn != 0 {
		m.noteTurn(at, found)
	}
	if found.surplusRank != nil {
		m.noneAt, m.empty = [claimableLanes]string{}, [claimableLanes]bool{}
		m.after.moveBack(queue.LaneSuspect, *found.surplusRank)
		m.after.moveBack(queue.LaneAlone, *found.surplusRank)
	}
	m.newestMark = max(m.newestMark, found.mark)
	if at.whole {
		m.scannedMark = max(m.scannedMark, found.mark)
		m.rest = min(restFactor*found.took, longestRest)
	}
	m.nothing = nil
	if found.count() == 0 {
		m.nothing = &emptiness{mark: found.mark, earliestEnd: found.earliestEnd}
	}
	// A claim that was committing when none was found to have ended began at most
	// that long before and ends at the earliest after the shortest lease.
	if (at.probe || found.count() == 0) && len(found.ended) == 0 && !found.paused {
		if from := found.now.Add(-shortestLease); from.After(m.probeFrom) {
			m.probeFrom = from
		}
	}
}

// noteTurn remembers whether a turn of suspects found any.
func (m *memory) noteTurn(at look, found *scanned) {
	none := found.reached[at.turn] == reached{} && !found.paused
	m.empty[at.turn] = none
	if at.wholeTurn || at.whole {
		m.noneAt[at.turn] = ""
		if none {
			m.noneAt[at.turn] = found.mark
		}
	}
}

// nextBound returns the bound of a lane after a claim of n entries.
func nextBound(present spot, at look, lane queue.Lane, n int, found *scanned) spot {
	began, reached := at.after[lane], found.reached[lane]
	switch none := (spot{}); {
	case at.whole && reached.ahead != none:
		// Everything up to there is taken or locked, whatever was believed.
		return reached.ahead
	case reached.behind != none && found.count() >= limitOf(lane, n):
		// There may be more behind the bound.
		return reached.behind
	case !present.before(began) && present.before(reached.ahead): // else the bound was moved back meanwhile
		return reached.ahead
	default:
		return present
	}
}

// limitOf is how many entries of the lane a claim of n may have.
func limitOf(lane queue.Lane, n int) int {
	switch lane {
	case queue.LaneSuspect:
		return queue.SuspectBatch(n)
	case queue.LaneAlone:
		return 1
	default:
		return n
	}
}

// moveBack makes claims look from the rank on.
func (b *bounds) moveBack(lane queue.Lane, rank int64) {
	if to := (spot{rank - 1, math.MaxInt64}); to.before(b[lane]) {
		b[lane] = to
	}
}

// moveBack makes claims look at the lane from the rank on, since something was
// put there.
func (m *memory) moveBack(lane queue.Lane, rank int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.after.moveBack(lane, rank)
	m.noneAt[lane], m.empty[lane], m.exhaustedAt = "", false, ""
}

// replacing says that results are likely to replace others: some did in the last
// second. Of a queue of which nothing is remembered nothing is.
func (m *memory) replacing() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.replacedAt.IsZero() && time.Since(m.replacedAt) < replacingInterval
}

// replaced notes that results replaced others.
func (m *memory) replaced() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replacedAt = time.Now() //nolint:forbidigo // paces; says nothing about leases
}
