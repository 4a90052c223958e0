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
// Time is part of the state. Each call happened at one instant of the database's
// clock that lies between the call's two instants. In an order of calls the
// instants only rise, so it is enough to remember the least that the present may
// be (now): an answer that needs a lease to run is possible if now is before the
// lease's end, and one that needs it to have ended moves now to the end, which
// must not lie after the call's answer. Where the database told an instant
// itself (lease ends, and so the instants of claims and renewals), that is used.
//
// A call without an answer may take effect wherever in the order it can, up to
// the very end, which is as good as never. So such a call is always possible.
// A claim without an answer is one of unknown entries, a phantom: it makes no
// call of its own in any place, but explains an attempt that was counted and an
// entry that is in processing without a known holder.

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

	// Attempts that have lost the place for certain: cut from a running lease (an
	// edit or a deletion), and of these and of results those that are refused as edited.
	cut, edited set
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
	unanswered bool
	lost       bool // Renew
	system     bool // Results: of no claim, hence the quarantine's
}

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
	if s.now = max(s.now, o.from); s.now > o.to {
		return s, false
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
	case Read:
		return b.read(s, o)
	case Results, Released:
		return b.results(s, o)
	}
	return s, false
}

// end moves the present to the lease's end, if that is possible within the call.
func (s state) end(o *op) (state, bool) {
	s.now = max(s.now, s.ends.from)
	return s, s.now <= o.to
}

// free says that nobody holds the place, if need be by moving the present.
func (s state) free(o *op) (state, bool) {
	if s.holder == 0 {
		return s, true
	}
	return s.end(o)
}

// holds says that the attempt has the place, whether or not its lease has ended.
func (s state) holds(o *op) bool { return s.holder != 0 && s.holder == o.attempt && s.owner == o.user }

func (s state) alive() bool { return s.born && !s.gone }

func (s state) create(o *op) (state, bool) {
	if s.born {
		return s, false
	}
	s.born, s.tag = true, o.tag
	return s, true
}

// claim (L2, L4, L9, L10): of a place that waits or whose lease has ended, with
// the present data. Each claim counts, also those that nobody got.
func (b Bounds) claim(s state, o *op) (state, bool) {
	if !s.alive() || s.result != 0 || s.tag != o.tag || b.spent(s, 0) {
		return s, false
	}
	if s.holder != 0 && s.ends.from > o.at+tolerance {
		return s, false
	}
	more := o.try - s.tries - 1
	if more < 0 || more > o.phantoms || b.Attempts > 0 && o.try > b.Attempts {
		return s, false
	}
	if s.now = max(s.now, o.at-tolerance); s.now > o.to {
		return s, false
	}
	s.holder, s.owner, s.ends = o.attempt, o.user, o.ends
	s.tries, s.outs = o.try, s.outs+more+1
	return s, true
}

// submit (L3, L5, L6, L10).
func (s state) submit(o *op) (state, bool) {
	repeated := s.alive() && s.result != 0 && s.result == o.attempt && s.owner == o.user
	switch o.answer {
	case Stored, Aborted:
		switch {
		case repeated:
			return s, s.resultTag == o.tag
		case !s.alive() || !s.holds(o) || !s.running():
			return s, false
		}
		if o.answer == Stored {
			s.result, s.resultTag, s.holder = o.attempt, o.tag, 0
		}
		return s, true
	case Answer(seqlease.RefusedNotFound):
		return s, !s.alive()
	case Answer(seqlease.RefusedDifferentResults):
		return s, repeated && s.resultTag != o.tag
	}
	if !s.alive() || repeated {
		return s, false
	}
	if s.holds(o) { // it is refused though it is the holder: the lease must have ended
		after, ok := s.end(o)
		return after, ok && o.answer == Answer(seqlease.RefusedLeaseLost)
	}
	switch o.answer {
	case Answer(seqlease.RefusedLeaseLost):
		return s, !s.edited.has(o.attempt)
	case Answer(seqlease.RefusedEdited):
		return s, s.edited.has(o.attempt) || o.claimed && o.given != s.tag
	}
	return s, false
}

// renew (L7).
func (s state) renew(o *op) (state, bool) {
	switch {
	case o.refused && s.holds(o):
		return s.end(o)
	case o.refused:
		return s, true
	case o.lost:
		return s, !s.holds(o) && (s.cut.has(o.attempt) || s.gone || o.claimed && o.given != s.tag)
	case s.holder == o.attempt && s.holder != 0:
		if s.owner != o.user || !s.running() || o.at-tolerance >= s.ends.to {
			return s, false
		}
		s.ends = o.ends
		if o.unanswered { // at an instant that nobody knows
			s.ends = span{from: s.now + o.ends.from, to: never}
		}
		return s, true
	default:
		return s, !s.cut.has(o.attempt)
	}
}

// giveBack (L8). The claim counts only if that was asked for.
func (s state) giveBack(o *op) (state, bool) {
	if !s.holds(o) {
		return s, true
	}
	if o.refused {
		return s.end(o)
	}
	if !s.running() {
		return s, false
	}
	s.holder = 0
	if !o.counted {
		s.tries = max(0, s.tries-1)
	}
	return s, true
}

// shorten: of a lease that runs; if no claim told of it, of a phantom's.
func (s state) shorten(o *op) (state, bool) {
	if !o.claimed {
		return s, o.phantoms > 0
	}
	if s.holder == 0 || s.holder != o.attempt || !s.running() {
		return s, false
	}
	s.ends = o.ends
	return s, true
}

// edit (L10): of a processed entry. Every lease and result goes.
func (b Bounds) edit(s state, o *op) (state, bool) {
	processed := s.result != 0
	if o.current && !processed && b.spent(s, o.phantoms) {
		if quarantined, ok := s.free(o); ok {
			s, processed = quarantined, !o.refused
		}
	}
	if o.refused {
		return s, !o.current || !s.alive() || !processed
	}
	if !s.alive() || o.current && !processed {
		return s, false
	}
	s = s.drop(o)
	s.tag, s.tries, s.outs = o.tag, 0, 0
	return s, true
}

// drop takes the place out of its lease and forgets its result.
func (s state) drop(o *op) state {
	if s.result != 0 {
		s.edited = s.edited.with(s.result)
	}
	if s.holder != 0 && o.to < s.ends.from { // else it may have ended before
		s.cut, s.edited = s.cut.with(s.holder), s.edited.with(s.holder)
	}
	s.holder, s.owner, s.result, s.resultTag = 0, "", 0, ""
	return s
}

// remove (L10): of an entry that waits or is processed.
func (s state) remove(o *op) (state, bool) {
	if o.refused {
		return s, !o.current || !s.alive() || o.phantoms > 0 || s.holder != 0 && s.running()
	}
	if !s.alive() {
		return s, false
	}
	if o.current {
		var ok bool
		if s, ok = s.free(o); !ok {
			return s, false
		}
	}
	s = s.drop(o)
	s.gone = true
	return s, true
}

// read (L4): what people are shown.
func (b Bounds) read(s state, o *op) (state, bool) {
	switch {
	case o.status == "":
		return s, !s.alive()
	case !s.alive():
		return s, false
	}
	switch o.status {
	case seqlease.Received:
		if s.result != 0 {
			return s, false
		}
		return s.free(o)
	case seqlease.InProcessing:
		return s, s.result == 0 && (o.phantoms > 0 || s.holder != 0 && s.running())
	case seqlease.Processed, seqlease.ApprovedForRelease:
		if s.result != 0 {
			return s, true
		}
		after, ok := s.free(o)
		return after, ok && b.spent(s, o.phantoms)
	}
	return s, false
}

// results: nothing that was accepted is lost or replaced.
func (b Bounds) results(s state, o *op) (state, bool) {
	switch {
	case !s.alive():
		return s, o.attempt == 0 && o.tag == "" && !o.system
	case o.kind == Released:
		return s, s.result != 0 && s.resultTag == o.tag
	case o.system:
		after, ok := s.free(o)
		return after, ok && s.result == 0 && b.spent(s, o.phantoms)
	default:
		return s, s.result == o.attempt
	}
}
