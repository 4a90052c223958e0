package witness

import (
	"strings"

	"github.com/seqlease/seqlease"
)

// The model of one place. It is what the rules say about one entry under one
// pipeline version, and nothing about how a store does it:
//
//	            created
//	               v
//	edited --> waiting --claimed--> leased --result in time--> processed --edited--> waiting
//	               ^                   |
//	               +---- given back ---+ (or taken over by the next claim, from the lease's end on)
//
// Beside that, a place with a result may wait or be leased again (reprocessed), and
// one that waits or is leased may be put into quarantine, by an operator's call or,
// once it is used up, at any time without one.
//
// Time is part of the state. Each call happened at one instant of the database's
// clock that lies between the call's two instants. In an order of calls the
// instants only rise, so it is enough to remember the least that the present may
// be (now): an answer that needs a lease to run is possible if now is before the
// lease's end, and one that needs it to have ended moves now to the end, which
// must not lie after the call's answer. Where the database told an instant
// itself (lease ends, and so the instants of claims and renewals), that is used.
//
// Only a reading has an instant of its own: it locks nothing, so it may see the
// end of a lease as it was before a renewal that was decided earlier and is
// committed later, and read the clock between the two.
//
// A call without an answer may take effect wherever in the order it can, up to
// the very end, which is as good as never. So such a call is always possible.
// A claim without an answer is one of unknown entries. If the database's records
// say what it brought, it is a claim like any other that somebody may have given
// back since, because it wasn't delivered. Without records it is a phantom: it
// has no place, but explains an attempt that was counted and an entry that is in
// processing without a known holder.

// state is what is known of a place. It is compared with ==.
type state struct {
	born, gone bool
	tag        string // of the present data
	now        int64  // the present is not before this, in µs of the database's clock

	holder int // attempt that the place is leased to, from 1, also after the lease's end until somebody else has it; 0: nobody
	owner  string
	ends   span // of the lease
	tries  int  // claims that count
	outs   int  // all claims

	result    int // attempt that the present result is of; 0: none
	resultTag string
	accepted  string // whose result it is

	confined bool // in quarantine, whether or not it waits again
	again    bool // waits or is leased though it has a result or is in quarantine

	// Attempts that have lost the place for certain: cut from a running lease (an
	// edit or a deletion), and of these and of results those that are refused as edited.
	cut, edited set
	parted      set // and those that have lost it unless their leases had ended
}

// span is when a lease ends: at one instant that is not known exactly if a
// renewal got no answer.
type span struct{ from, to int64 }

// set of small numbers; a string, so that it can be compared.
type set string

func (s set) has(n int) bool  { return strings.ContainsRune(string(s), rune(n)) }
func (s set) with(n int) set  { return s + set(rune(n)) }
func (s state) running() bool { return s.now < s.ends.to }

// op is a call as one place sees it.
type op struct {
	kind     Kind
	from, to int64 // by the database's clock, the tolerance included
	event    *Event

	attempt    int
	user       string
	tag        string
	given      string // Submit, Renew: the tag of the data that the attempt was given for this place
	claimed    bool   // and whether it was given any
	phantoms   int    // claims without an answer that may have come before
	current    bool   // the place is of the current pipeline version, whose states decide
	try        int
	answer     Answer
	status     seqlease.Status // empty: the entry isn't there
	ends       span
	at         int64 // Claim, Renew: the instant that the database told
	counted    bool
	refused    bool
	passed     bool // an operator's call: it may have passed the place over, since it was edited meanwhile
	unanswered bool
	lost       bool // Renew
	system     bool // Results: of no claim, hence the quarantine's
	untold     bool // Claim: only a record says that it brought this place, so the data isn't known
	silent     bool // Claim: it had no answer, but a record says that it was made; GiveBack: of such a claim, by the server
}

// done says that it has a result, be it quarantine's, as far as calls tell: what is
// used up may be in quarantine, too.
func (s state) done() bool { return s.result != 0 || s.confined }

// queued says that it waits or is leased, unless it is used up and in quarantine.
func (s state) queued() bool { return s.alive() && (s.again || !s.done()) }

// tolerance is for clocks that tell milliseconds and for slewing, in µs.
const tolerance = 3_000

// never is later than everything.
const never = int64(1) << 62

// Bounds are how often an entry is handed out (L9); 0: unbounded.
type Bounds struct {
	Attempts int // claims that count
	HandOuts int // and those that don't
}

// spent says that no claim gets the place any more, if more claims came than is known.
func (b Bounds) spent(s state, more int) bool {
	return b.Attempts > 0 && s.tries+more >= b.Attempts || b.HandOuts > 0 && s.outs-s.tries+more >= b.HandOuts
}

// step says whether the call is possible in the state, and the state after it.
func (b Bounds) step(s state, o *op) (state, bool) {
	if o.unanswered {
		if after, ok := b.act(s, o); ok {
			return after, true
		}
		return s, true
	}
	return b.act(s, o)
}

func (b Bounds) act(s state, o *op) (state, bool) {
	if o.kind == Read {
		return s, b.shows(s, o)
	}
	if s.now = max(s.now, o.from); s.now > o.to {
		return s, false
	}
	if o.refused && o.passed {
		return s, true
	}
	switch o.kind {
	case Create:
		return s.create(o)
	case Claim:
		return b.claim(s, o)
	case Submit:
		return s.submit(o)
	case Renew:
		return s.renew(o)
	case GiveBack:
		return s.giveBack(o)
	case Shorten:
		return s.shorten(o)
	case Edit:
		return b.edit(s, o)
	case Delete:
		return s.remove(o)
	case Free:
		return s.freed(o)
	case Requeue:
		return b.requeue(s, o)
	case Quarantine:
		return b.quarantine(s, o)
	case Reprocess:
		return b.reprocess(s, o)
	case Results, Released:
		return b.results(s, o)
	default:
		return s, false
	}
}
