package witness

import "github.com/seqlease/seqlease"

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
	if !s.queued() || s.tag != o.tag && !o.untold || b.spent(s, 0) {
		return s, false
	}
	more := o.try - s.tries - 1
	if more < 0 || more > o.phantoms || b.Attempts > 0 && o.try > b.Attempts {
		return s, false
	}
	// The database's instant is that of the beginning of the claim: what it finds
	// may have begun to wait since.
	s.now = max(s.now, o.at-tolerance)
	s, ended := s.free(o)
	if !ended || s.now > o.to {
		return s, false
	}
	s.holder, s.owner, s.ends = o.attempt, o.user, o.ends
	s.tries, s.outs = o.try, s.outs+more+1
	return s, true
}

// submit (L3, L5, L6, L10).
func (s state) submit(o *op) (state, bool) {
	repeated := s.alive() && s.result != 0 && s.result == o.attempt && s.accepted == o.user
	switch o.answer {
	case Stored, Aborted:
		switch {
		case repeated:
			return s, s.resultTag == o.tag
		case !s.alive() || !s.holds(o) || !s.running():
			return s, false
		}
		if o.answer == Stored {
			s.result, s.resultTag, s.accepted, s.holder = o.attempt, o.tag, o.user, 0
			s.again, s.confined = false, false
		}
		return s, true
	case Answer(seqlease.RefusedNotFound):
		return s, !s.alive()
	case Answer(seqlease.RefusedDifferentResults):
		return s, repeated && s.resultTag != o.tag
	default:
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
	default:
		return s, false
	}
}

// renew (L7).
func (s state) renew(o *op) (state, bool) {
	switch {
	case o.refused && s.holds(o):
		return s.end(o)
	case o.refused:
		return s, true
	case o.lost:
		return s, !s.holds(o) && (s.cut.has(o.attempt) || s.parted.has(o.attempt) || s.gone || o.claimed && o.given != s.tag)
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
	if !s.running() && !o.silent {
		return s, false
	}
	s.holder = 0
	if !o.counted {
		s.tries = max(0, s.tries-1)
	}
	return s, true
}

// freed (L16): the lease ends as if it had run out, so the claim counts.
func (s state) freed(o *op) (state, bool) {
	if s.holder == 0 || s.holder != o.attempt {
		return s, true
	}
	if o.refused {
		return s.end(o)
	}
	if o.to < s.ends.from { // else it may have ended before
		s.cut = s.cut.with(s.holder)
	}
	s.holder = 0
	return s, true
}

// requeue (L9, L16): an entry in quarantine waits again as if it were new.
func (b Bounds) requeue(s state, o *op) (state, bool) {
	if o.refused {
		return s, !s.confined // it may have been spent and not in quarantine yet
	}
	if !s.confined && (!s.queued() || !b.spent(s, o.phantoms)) {
		return s, false
	}
	s, ended := s.free(o)
	s.confined, s.again = false, s.result != 0
	s.holder, s.tries, s.outs = 0, 0, 0
	return s, ended
}

// quarantine (L16): of an entry that waits or is in processing. A result of a
// pipeline stays.
func (b Bounds) quarantine(s state, o *op) (state, bool) {
	if !s.queued() {
		return s, o.refused
	}
	if o.refused { // it has been in quarantine since it was used up
		after, ended := s.free(o)
		return after, ended && b.spent(s, o.phantoms)
	}
	switch {
	case s.holder == 0:
	case o.to < s.ends.from:
		s.cut = s.cut.with(s.holder)
	default:
		s.parted = s.parted.with(s.holder)
	}
	s.holder, s.confined, s.again = 0, true, false
	return s, true
}

// reprocess (L16, V9): what has a result waits as if it were new beside it.
func (b Bounds) reprocess(s state, o *op) (state, bool) {
	if o.refused {
		return s, !s.alive() || !s.done() || s.again
	}
	if !s.alive() {
		return s, false
	}
	if s.queued() { // it must have been used up and put into quarantine
		var ended bool
		if s, ended = s.free(o); !ended || !b.spent(s, o.phantoms) {
			return s, false
		}
		s.confined = true
	}
	s.again, s.holder, s.tries, s.outs = true, 0, 0, 0
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
	processed := s.done()
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
	s.holder, s.owner, s.result, s.resultTag, s.accepted = 0, "", 0, "", ""
	s.confined, s.again = false, false
	return s
}

// remove (L10): of an entry that waits or is processed.
func (s state) remove(o *op) (state, bool) {
	if o.refused {
		return s, !o.current || !s.alive() || o.phantoms > 0 || !s.done() && s.holder != 0 && s.running()
	}
	if !s.alive() {
		return s, false
	}
	if o.current && !s.done() {
		var ok bool
		if s, ok = s.free(o); !ok {
			return s, false
		}
	}
	s = s.drop(o)
	s.gone = true
	return s, true
}

// shows (L4) says whether people may be shown this.
func (b Bounds) shows(s state, o *op) bool {
	if o.status == "" || !s.alive() {
		return o.status == "" && !s.alive()
	}
	waits := s.holder == 0 || s.ends.from <= o.to
	switch o.status {
	case seqlease.Received:
		return !s.done() && waits
	case seqlease.InProcessing:
		return !s.done() && (o.phantoms > 0 || s.holder != 0 && o.from < s.ends.to)
	case seqlease.Processed, seqlease.ApprovedForRelease:
		return s.done() || waits && b.spent(s, o.phantoms)
	default:
		return false
	}
}

// results: nothing that was accepted is lost or replaced.
func (b Bounds) results(s state, o *op) (state, bool) {
	switch {
	case !s.alive():
		return s, o.attempt == 0 && o.tag == "" && !o.system
	case o.kind == Released:
		return s, s.result != 0 && s.resultTag == o.tag
	case o.system && s.confined:
		return s, s.result == 0
	case o.system:
		after, ok := s.free(o)
		return after, ok && s.result == 0 && b.spent(s, o.phantoms)
	default:
		return s, s.result == o.attempt && (s.result != 0 || !s.confined)
	}
}
