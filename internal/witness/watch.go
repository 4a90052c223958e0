package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// watched is a place with all calls that concern it.
type watched struct {
	place    Place
	ops      []*op
	attempts map[seqlease.AttemptID]int
	given    map[seqlease.AttemptID]string // tag of the data that the attempt was given
}

// number returns the place's own number of the attempt, from 1; 0 for none.
func (w *watched) number(id seqlease.AttemptID) int {
	if id.IsZero() {
		return 0
	}
	n, known := w.attempts[id]
	if !known {
		n = len(w.attempts) + 1
		w.attempts[id] = n
	}
	return n
}

// watcher deals the calls of a history out to the places.
type watcher struct {
	h       History
	o       Options
	places  map[Place]*watched
	claimed map[seqlease.AttemptID][]*watched
	// answered are the claims that were answered.
	answered map[seqlease.AttemptID]bool
	records  map[seqlease.AttemptID]Record
	// phantoms are the calls of claims without an answer, by pipeline version.
	phantoms map[seqlease.PipelineVersion][]*Event
}

// watch returns every place with its calls, by place.
func watch(h History, o Options) []*watched {
	w := &watcher{
		h: h, o: o, places: map[Place]*watched{}, claimed: map[seqlease.AttemptID][]*watched{},
		answered: map[seqlease.AttemptID]bool{}, records: map[seqlease.AttemptID]Record{}, phantoms: map[seqlease.PipelineVersion][]*Event{},
	}
	for _, r := range h.Records {
		w.records[r.Attempt] = r
	}
	// A call may be about what a call that began later was the first to name, such
	// as a claim that sees an upload whose answer is still under way.
	for i := range h.Events {
		w.meet(&h.Events[i])
	}
	for _, r := range h.Records {
		w.dealSilent(r)
	}
	for i := range h.Events {
		w.deal(&h.Events[i])
	}
	list := make([]*watched, 0, len(w.places))
	for _, watched := range w.places {
		watched.passOver()
		list = append(list, watched)
	}
	slices.SortFunc(list, func(a, b *watched) int {
		return cmp.Or(a.place.Compare(b.place.AccessionVersion), cmp.Compare(a.place.Pipeline, b.place.Pipeline))
	})
	return list
}

// passOver marks the operators' calls beside an edit: they mean the entry as they
// found it, so that what was edited before they could lock it may be left alone.
func (w *watched) passOver() {
	for _, o := range w.ops {
		o.passed = o.event.byOperator() && slices.ContainsFunc(w.ops, func(edit *op) bool {
			return edit.kind == Edit && !edit.refused && edit.event.Call < o.event.Return && o.event.Call < edit.event.Return
		})
	}
}

// meet notes the places that there are and who claimed them.
func (w *watcher) meet(e *Event) {
	switch e.Kind {
	case Create:
		for _, part := range e.Parts {
			for _, pipeline := range w.o.Pipelines {
				place := Place{part.AccessionVersion, pipeline}
				w.places[place] = &watched{place: place, attempts: map[seqlease.AttemptID]int{}, given: map[seqlease.AttemptID]string{}}
			}
		}
	case Claim:
		switch {
		case !e.Unanswered:
			w.answered[e.Attempt] = true
		case !w.h.Recorded:
			w.phantoms[e.Pipeline] = append(w.phantoms[e.Pipeline], e)
		}
	default:
	}
}

// deal gives the call to every place that it concerns.
func (w *watcher) deal(e *Event) {
	switch e.Kind {
	case Create, Edit, Delete:
		for _, part := range e.Parts {
			for _, pipeline := range w.o.Pipelines {
				w.give(Place{part.AccessionVersion, pipeline}, e, &part)
			}
		}
	case Claim:
		w.dealClaim(e)
	case Submit, Released, Shorten, Requeue, Quarantine, Reprocess:
		for _, part := range e.Parts {
			if e.Kind == Shorten {
				part.Attempt = e.Attempt
			}
			if !part.Flawed {
				w.give(Place{part.AccessionVersion, e.Pipeline}, e, &part)
			}
		}
	case Renew, GiveBack, Free:
		w.dealLease(e)
	case Read, Results:
		w.dealSnapshot(e)
	case Pause, Resume: // they change no place
	}
}

// dealClaim gives a claim to the places that it brought. What the record has
// beside them was taken away again before the claim was answered.
func (w *watcher) dealClaim(e *Event) {
	told := map[seqlease.AccessionVersion]bool{}
	for _, part := range e.Parts {
		told[part.AccessionVersion] = true
		part.Attempt = e.Attempt
		if at := w.give(Place{part.AccessionVersion, e.Pipeline}, e, &part); at != nil {
			at.given[e.Attempt] = part.Tag
			w.claimed[e.Attempt] = append(w.claimed[e.Attempt], at)
		}
	}
	if !w.answered[e.Attempt] {
		return
	}
	for _, part := range w.records[e.Attempt].Parts {
		part.Attempt = e.Attempt
		if told[part.AccessionVersion] {
			continue
		}
		if at := w.give(Place{part.AccessionVersion, e.Pipeline}, e, &part); at != nil {
			at.ops[len(at.ops)-1].untold = true
			at.given[e.Attempt] = ""
			w.claimed[e.Attempt] = append(w.claimed[e.Attempt], at)
		}
	}
}

// dealSilent gives a claim that got no answer to the places that it brought
// nobody, and the give-back that may have followed.
func (w *watcher) dealSilent(r Record) {
	if w.answered[r.Attempt] {
		return
	}
	call, _ := w.h.callOf(r)
	e := &Event{
		Kind: Claim, Client: "nobody", Call: call, Return: call, Pipeline: r.Pipeline, Attempt: r.Attempt, User: r.User,
		Until: r.At.Add(r.Lease), Lease: r.Lease,
	}
	back := *e
	back.Kind, back.Count, back.Unanswered = GiveBack, len(r.Parts), true
	for _, part := range r.Parts {
		part.Attempt = r.Attempt
		for _, e := range []*Event{e, &back} {
			if at := w.give(Place{part.AccessionVersion, r.Pipeline}, e, &part); at != nil {
				o := at.ops[len(at.ops)-1]
				o.untold, o.silent, o.to = true, true, never
				at.given[r.Attempt] = ""
				if e.Kind == Claim {
					w.claimed[r.Attempt] = append(w.claimed[r.Attempt], at)
				}
			}
		}
	}
}

// callOf returns when the earliest call began that may have been the record's
// claim, such as one without an answer, or one that lost what it had claimed
// before it was answered and claimed anew; false if there was none.
func (h History) callOf(r Record) (call time.Duration, found bool) {
	early := time.Duration(r.At.UnixMicro()-h.Late-tolerance) * time.Microsecond
	late := time.Duration(r.At.UnixMicro()-h.Early+tolerance) * time.Microsecond
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != Claim || e.Pipeline != r.Pipeline || e.User != r.User || e.Call > late || !e.Unanswered && e.Return < early {
			continue
		}
		if e.Attempt == r.Attempt {
			return e.Call, true
		}
		if !found {
			call, found = e.Call, true
		}
	}
	return call, found
}

// dealLease gives a call about a whole lease to the places that were claimed
// under it. The claim comes before, since it told the attempt.
func (w *watcher) dealLease(e *Event) {
	named := map[seqlease.AccessionVersion]bool{}
	for _, part := range e.Parts {
		named[part.AccessionVersion] = true
	}
	for _, at := range w.claimed[e.Attempt] {
		if e.Kind == GiveBack && len(named) > 0 && !named[at.place.AccessionVersion] {
			continue
		}
		o := w.give(at.place, e, &Part{Attempt: e.Attempt}).ops
		o[len(o)-1].lost = named[at.place.AccessionVersion]
	}
}

// dealSnapshot gives a reading of everything to all places, also to those that it lacks.
func (w *watcher) dealSnapshot(e *Event) {
	found := map[seqlease.AccessionVersion]*Part{}
	for i := range e.Parts {
		found[e.Parts[i].AccessionVersion] = &e.Parts[i]
	}
	for place := range w.places {
		if place.Pipeline != e.Pipeline {
			continue
		}
		part := found[place.AccessionVersion]
		if part == nil {
			part = &Part{}
		}
		w.give(place, e, part)
	}
}

// give adds the call to the place, which is nil if nobody created it ([Facts] says so).
func (w *watcher) give(place Place, e *Event, part *Part) *watched {
	at := w.places[place]
	if at == nil {
		return nil
	}
	o := &op{
		kind: e.Kind, event: e, user: e.User, tag: part.Tag, current: place.Pipeline == w.o.Current,
		from: w.h.Early + e.Call.Microseconds() - tolerance, to: w.h.Late + e.Return.Microseconds() + tolerance,
		try: part.Try, answer: part.Answer, status: part.Status, counted: e.Counted, unanswered: e.Unanswered,
		refused: e.Refused,
	}
	switch {
	case e.Unanswered:
		o.to = never
	case e.Kind == GiveBack, e.byOperator():
		o.refused = o.refused || e.Count == 0
	}
	if !e.Until.IsZero() {
		o.ends = span{e.Until.UnixMicro(), e.Until.UnixMicro()}
		o.at = e.Until.UnixMicro() - e.Lease.Microseconds()
	} else if e.Kind == Renew {
		o.ends.from = e.Lease.Microseconds()
	}
	if e.Unanswered && e.Kind == Submit {
		o.answer = Stored
	}
	_, known := at.attempts[part.Attempt]
	o.system = e.Kind == Results && !known && !part.Attempt.IsZero()
	if !o.system {
		o.attempt = at.number(part.Attempt)
	}
	o.given, o.claimed = at.given[part.Attempt], false
	if _, claimed := at.given[part.Attempt]; claimed {
		o.claimed = true
	}
	for _, phantom := range w.phantoms[place.Pipeline] {
		if phantom.Call < e.Return || e.Unanswered {
			o.phantoms++
		}
	}
	at.ops = append(at.ops, o)
	return at
}
