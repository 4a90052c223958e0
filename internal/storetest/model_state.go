package storetest

import (
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// model says in the plainest way what ought to be: for each entry where it is,
// and a clock that moves only when time is made to pass. It knows one pipeline
// version and one organism.
type model struct {
	retry   queue.Retry
	now     time.Duration
	entries []*modelEntry
	leases  []*modelLease
	// added counts how often something became claimable other than by a lease end.
	added  int
	paused bool
}

// modelEntry waits, or is held, or neither.
type modelEntry struct {
	av       seqlease.AccessionVersion
	document string
	revision int
	gone     bool // deleted

	waits    bool
	holder   *modelLease // whose lease runs; nil: nobody
	attempts int         // of what waits or is held
	handOuts int
	ended    *modelLease // the lease that ended last with it, while nobody has touched the entry since

	result      *modelResult // of the present revision
	quarantined bool
	claims      []modelClaim
}

// modelClaim is one claim that an entry was part of.
type modelClaim struct {
	lease    *modelLease
	revision int
	attempt  int
}

type modelResult struct {
	lease   *modelLease // nil: quarantine's
	variant int
	judged  seqlease.ProcessingResult
}

type modelLease struct {
	id        seqlease.AttemptID
	user      string
	worker    string
	until     time.Duration
	asClaimed time.Duration
	entries   []*modelEntry // as claimed, in claim order
	lost      []seqlease.AccessionVersion
	// stirred says that somebody may have taken the lease apart since it ended.
	stirred bool
}

func (l *modelLease) held() []*modelEntry {
	return slices.DeleteFunc(slices.Clone(l.entries), func(e *modelEntry) bool { return e.holder != l })
}

// The rooms that entries wait in (L9).
type room int

const (
	fresh room = iota
	suspected
	alone
	spent
)

func (in room) String() string {
	return [...]string{"fresh entries", "suspects", "one alone", "used up"}[in]
}

// room says how an entry may be handed out.
func (m *model) room(e *modelEntry) room {
	uncounted := e.handOuts - e.attempts
	if e.attempts == m.retry.Attempts || uncounted >= m.retry.HandOuts {
		return spent
	}
	lastAttempt := e.attempts+1 == m.retry.Attempts
	if e.attempts > 2 || lastAttempt || 2*uncounted >= m.retry.HandOuts {
		return alone
	}
	if e.attempts > 0 {
		return suspected
	}
	return fresh
}

// waiting lists what waits in the room.
func (m *model) waiting(in room) []*modelEntry {
	return m.where(func(e *modelEntry) bool { return e.waits && m.room(e) == in })
}

// where lists the entries that exist for which it is so.
func (m *model) where(is func(*modelEntry) bool) []*modelEntry {
	var list []*modelEntry
	for _, e := range m.entries {
		if !e.gone && is(e) {
			list = append(list, e)
		}
	}
	return list
}

// wait has the entry wait from here on.
func (m *model) wait(e *modelEntry, attempts, handOuts int) {
	e.waits, e.holder, e.ended = true, nil, nil
	e.attempts, e.handOuts = attempts, handOuts
	if m.room(e) != spent {
		m.added++
	}
}

// rest takes the entry from where it waits or is held.
func (e *modelEntry) rest() { e.waits, e.holder, e.ended = false, nil, nil }

// cut takes the entry from its lease as lost.
func (e *modelEntry) cut() {
	if e.holder != nil {
		e.holder.lost = append(e.holder.lost, e.av)
	}
	e.rest()
}

// pass lets time pass: what ended leases held waits.
func (m *model) pass(d time.Duration) {
	m.now += d
	for _, e := range m.entries {
		if l := e.holder; l != nil && m.now >= l.until {
			e.waits, e.holder, e.ended = true, nil, l
		}
	}
}

// stirLeases notes that a call may have taken ended leases apart.
func (m *model) stirLeases() {
	for _, l := range m.leases {
		if m.now >= l.until {
			l.stirred = true
		}
	}
}

// left lists what an ended lease still has for sure.
func (l *modelLease) left() []*modelEntry {
	return slices.DeleteFunc(slices.Clone(l.entries), func(e *modelEntry) bool { return e.ended != l })
}

// good says that the entry has a result that quarantine doesn't replace.
func (e *modelEntry) good() bool { return e.result != nil && e.result.judged != seqlease.HasErrors }

// confine puts the entry in quarantine.
func (e *modelEntry) confine() {
	e.cut()
	e.quarantined = true
	if !e.good() {
		e.result = &modelResult{judged: seqlease.HasErrors}
	}
}

// status is what everybody sees.
func (e *modelEntry) status() seqlease.Status {
	switch {
	case e.result != nil:
		return seqlease.Processed
	case e.holder != nil:
		return seqlease.InProcessing
	default:
		return seqlease.Received
	}
}

// claimOf is the entry's part in a claim, if it had any.
func (e *modelEntry) claimOf(l *modelLease) (modelClaim, bool) {
	for _, c := range e.claims {
		if c.lease == l {
			return c, true
		}
	}
	return modelClaim{}, false
}
