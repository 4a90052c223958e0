package witness

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// suspectShare is the part of a claim that entries with an attempt get (L9): ⌈n/8⌉.
const suspectShare = 8

// Facts holds a whole history against what can be counted or compared without a
// search, and describes each violation:
//
//   - a claim brings at most what was asked for, each entry once and created
//     before, and suspects only in small batches (L2, L9);
//   - what an attempt holds for certain is in nobody else's claim (L2);
//   - a result isn't stored after the latest end of its lease (L3);
//   - an entry has as many accepted results as it was edited and reprocessed, and
//     one more (L3, L10, V9);
//   - the database's records of claims are what was answered, and whoever claimed
//     without a record or has a record without a claim is named (L9);
//   - no claim brings anything while the queue is paused (L16);
//   - answers about whole leases count no more than was claimed (L7, L8);
//   - when all work is done, every entry is processed or was deleted, and nothing
//     else is there.
func Facts(h History, o Options) []string {
	f := &facts{
		h: h, o: o, claims: map[seqlease.AttemptID]*lease{}, sizes: map[seqlease.AttemptID]int{}, places: map[Place]*tale{}, created: map[seqlease.AccessionVersion]bool{},
		edits: map[seqlease.AccessionVersion]int{}, results: map[seqlease.PipelineVersion]*Event{}, deleted: map[seqlease.AccessionVersion]bool{},
	}
	for _, r := range h.Records { // they have what was cut before the answer, too
		f.sizes[r.Attempt] = len(r.Parts)
	}
	for i := range h.Events {
		f.note(&h.Events[i])
	}
	for i := range h.Events {
		f.judge(&h.Events[i])
	}
	f.overlaps()
	if h.Recorded {
		f.records()
	}
	if o.Drained {
		f.ends()
	}
	return f.violations
}

type facts struct {
	h          History
	o          Options
	violations []string
	claims     map[seqlease.AttemptID]*lease
	sizes      map[seqlease.AttemptID]int // entries of the claims
	places     map[Place]*tale
	created    map[seqlease.AccessionVersion]bool
	edits      map[seqlease.AccessionVersion]int // how many there may have been
	deleted    map[seqlease.AccessionVersion]bool
	pauses     []*paused
	read       *Event                              // the last reading of everything
	results    map[seqlease.PipelineVersion]*Event // and of the results of each version
}

// paused is from when until when the queue of the version, or for 0 of all, was
// paused for certain.
type paused struct {
	from, until time.Duration
	version     seqlease.PipelineVersion
}

// lease is a claim that was answered.
type lease struct {
	*Event
	earliest, latest time.Time     // when it ends: whatever shortened or renewed it
	left             time.Duration // when something began that may have ended it before
}

// tale is what happened at a place, in the order in which it was called.
type tale struct {
	claims   []*lease
	changed  []*Event // by edits and deletions, and by operators
	accepted []seqlease.AttemptID
	again    int                                  // how often it was reprocessed
	given    map[seqlease.AttemptID]time.Duration // begin of the first submission by the attempt
}

func (f *facts) violate(e *Event, format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf(format, args...)+": "+e.String())
}

func (f *facts) tale(place Place) *tale {
	t := f.places[place]
	if t == nil {
		t = &tale{given: map[seqlease.AttemptID]time.Duration{}}
		f.places[place] = t
	}
	return t
}

// note collects what the judgements of other calls need.
func (f *facts) note(e *Event) {
	switch e.Kind {
	case Create:
		for _, part := range e.Parts {
			f.created[part.AccessionVersion] = true
		}
	case Claim:
		f.noteClaim(e)
	case Renew, Shorten, GiveBack, Free:
		if l := f.claims[e.Attempt]; l != nil {
			l.note(e)
		}
	case Submit:
		for _, part := range e.Parts {
			given := f.tale(Place{part.AccessionVersion, e.Pipeline}).given
			if _, before := given[part.Attempt]; !before {
				given[part.Attempt] = e.Call
			}
		}
	case Edit, Delete:
		f.noteChange(e)
	case Read:
		f.read = e
	case Results:
		f.results[e.Pipeline] = e
	case Quarantine, Requeue, Reprocess:
		f.noteOperation(e)
	case Pause:
		f.pauses = append(f.pauses, &paused{from: e.Return, until: math.MaxInt64, version: e.Pipeline})
	case Resume:
		for _, p := range f.pauses {
			if p.version == e.Pipeline {
				p.until = min(p.until, e.Call)
			}
		}
	case Released:
	}
}

func (f *facts) noteClaim(e *Event) {
	if e.Unanswered || len(e.Parts) == 0 {
		return
	}
	if f.claims[e.Attempt] != nil {
		f.violate(e, "the attempt id is that of another claim")
		return
	}
	l := &lease{Event: e, earliest: e.Until, latest: e.Until, left: math.MaxInt64}
	f.claims[e.Attempt] = l
	f.sizes[e.Attempt] = max(f.sizes[e.Attempt], len(e.Parts))
	for _, part := range e.Parts {
		t := f.tale(Place{part.AccessionVersion, e.Pipeline})
		t.claims = append(t.claims, l)
	}
}

func (l *lease) note(e *Event) {
	switch {
	case e.Kind == GiveBack || e.Kind == Free:
		l.left = min(l.left, e.Call)
	case e.Kind == Shorten && e.Until.Before(l.earliest):
		l.earliest = e.Until
	case e.Kind == Renew && e.Unanswered:
		l.latest = l.latest.Add(math.MaxInt64 / 2) // nobody knows
	case e.Kind == Renew && !e.Refused && e.Until.After(l.latest):
		l.latest = e.Until
	}
}

func (f *facts) noteChange(e *Event) {
	if e.Refused {
		return
	}
	for _, part := range e.Parts {
		if e.Kind == Edit {
			f.edits[part.AccessionVersion]++
		} else {
			f.deleted[part.AccessionVersion] = true
		}
		for _, pipeline := range f.o.Pipelines {
			t := f.tale(Place{part.AccessionVersion, pipeline})
			t.changed = append(t.changed, e)
		}
	}
}

// noteOperation notes that an operator changed entries one by one.
func (f *facts) noteOperation(e *Event) {
	if e.Count == 0 {
		return
	}
	for _, part := range e.Parts {
		t := f.tale(Place{part.AccessionVersion, e.Pipeline})
		t.changed = append(t.changed, e)
		if e.Kind == Reprocess {
			t.again++
		}
	}
}

func (f *facts) judge(e *Event) {
	switch e.Kind {
	case Claim:
		f.judgeClaim(e)
	case Submit:
		f.judgeSubmit(e)
	case GiveBack, Renew, Free:
		held := f.sizes[e.Attempt]
		if e.Kind == Renew {
			held -= len(e.Parts)
		}
		if e.Count > max(0, held) {
			f.violate(e, "at most %d entries of the claim can be meant", held)
		}
	default:
	}
}

func (f *facts) judgeClaim(e *Event) {
	seen := map[seqlease.AccessionVersion]bool{}
	suspects, alone := 0, false
	for _, part := range e.Parts {
		if seen[part.AccessionVersion] {
			f.violate(e, "%s is in the claim twice", part.AccessionVersion)
		}
		seen[part.AccessionVersion] = true
		if !f.created[part.AccessionVersion] {
			f.violate(e, "%s is in the claim, but nobody created it", part.AccessionVersion)
		}
		if part.Try > 1 {
			suspects++
		}
		alone = alone || part.Try > 3 || part.Try == f.o.Bounds.Attempts
	}
	for _, p := range f.pauses {
		if len(e.Parts) > 0 && (p.version == 0 || p.version == e.Pipeline) && e.Call > p.from && e.Return < p.until {
			f.violate(e, "%d entries while the queue was paused from %s until %s", len(e.Parts), p.from, p.until)
		}
	}
	if len(e.Parts) > e.Asked {
		f.violate(e, "%d entries for a claim of %d", len(e.Parts), e.Asked)
	}
	if f.o.Bounds.Attempts == 0 || suspects == 0 {
		return
	}
	switch {
	case suspects < len(e.Parts):
		f.violate(e, "%d suspects among %d entries", suspects, len(e.Parts))
	case alone && suspects > 1:
		f.violate(e, "%d suspects with one that goes alone", suspects)
	case suspects > (e.Asked+suspectShare-1)/suspectShare:
		f.violate(e, "%d suspects for a claim of %d", suspects, e.Asked)
	}
}

func (f *facts) judgeSubmit(e *Event) {
	for _, part := range e.Parts {
		if part.Flawed && part.Answer == Stored {
			f.violate(e, "a flawed line of %s was stored", part.AccessionVersion)
		}
		if part.Answer != Stored || e.Unanswered {
			continue
		}
		t := f.tale(Place{part.AccessionVersion, e.Pipeline})
		if !slices.Contains(t.accepted, part.Attempt) {
			t.accepted = append(t.accepted, part.Attempt)
		}
		l := f.claims[part.Attempt]
		if l == nil {
			f.violate(e, "a result of %s was stored for an attempt that claimed nothing", part.AccessionVersion)
			continue
		}
		if t.given[part.Attempt] == e.Call && f.h.Early+e.Call.Microseconds()-tolerance > l.latest.UnixMicro() {
			f.violate(e, "the first result of %s was stored after the end of its lease at %s", part.AccessionVersion, l.latest)
		}
	}
}
