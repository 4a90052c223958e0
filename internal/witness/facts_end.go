package witness

import (
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// overlaps compares what each attempt holds for certain with the claims of others.
func (f *facts) overlaps() {
	for place, t := range f.places {
		if n := len(t.accepted); n > 1+f.edits[place.AccessionVersion]+t.again {
			f.violations = append(f.violations, fmt.Sprintf("%s v%d: results of %d attempts were accepted and it was edited at most %d times and reprocessed %d times: %v",
				place, place.Pipeline, n, f.edits[place.AccessionVersion], t.again, t.accepted))
		}
		for _, l := range t.claims {
			until := t.heldUntil(f, l)
			for _, other := range t.claims {
				if other != l && other.Call > l.Return && other.Return < until {
					f.violate(other.Event, "%s v%d is held until %s by %s", place, place.Pipeline, until, l.Event)
				}
			}
		}
	}
}

// heldUntil is until when the place is the lease's for certain.
func (t *tale) heldUntil(f *facts, l *lease) time.Duration {
	until := min(l.left, time.Duration(l.earliest.UnixMicro()-f.h.Late-tolerance)*time.Microsecond)
	if submitted, any := t.given[l.Attempt]; any {
		until = min(until, submitted)
	}
	for _, changed := range t.changed {
		if changed.Return >= l.Call {
			until = min(until, changed.Call)
		}
	}
	return until
}

// records compares the database's records of claims with the answers.
func (f *facts) records() {
	recorded := map[seqlease.AttemptID]bool{}
	for _, r := range f.h.Records {
		recorded[r.Attempt] = true
		l := f.claims[r.Attempt]
		if l == nil {
			if _, found := f.h.callOf(r); !found {
				f.violations = append(f.violations, fmt.Sprintf("there is a record of a claim that nobody made: %+v", r))
			}
			continue
		}
		tries := map[seqlease.AccessionVersion]int{}
		for _, part := range r.Parts {
			tries[part.AccessionVersion] = part.Try
		}
		same := r.User == l.User && r.Pipeline == l.Pipeline && r.Lease == l.Lease
		for _, part := range l.Parts {
			same = same && tries[part.AccessionVersion] == part.Try
			delete(tries, part.AccessionVersion)
		}
		for av := range tries { // an edit, a deletion or an operator may take an entry away again before the claim is answered
			same = same && f.tale(Place{av, r.Pipeline}).changedDuring(l)
		}
		if !same {
			f.violate(l.Event, "the record of the claim is another: %+v instead of %+v", r, l.Parts)
		}
	}
	for id, l := range f.claims {
		if !recorded[id] {
			f.violate(l.Event, "there is no record of the claim")
		}
	}
}

// changedDuring says that an edit, a deletion or an operator may have come between claim and answer.
func (t *tale) changedDuring(l *lease) bool {
	return slices.ContainsFunc(t.changed, func(e *Event) bool { return e.Call < l.Return && e.Return > l.Call })
}

// ends compares the last readings with what was created and deleted.
func (f *facts) ends() {
	final := map[seqlease.PipelineVersion]map[seqlease.AccessionVersion]string{}
	if f.read != nil {
		list := map[seqlease.AccessionVersion]string{}
		for _, part := range f.read.Parts {
			list[part.AccessionVersion] = string(part.Status)
		}
		final[f.o.Current] = list
	}
	for pipeline, event := range f.results {
		if pipeline == f.o.Current {
			continue
		}
		list := map[seqlease.AccessionVersion]string{}
		for _, part := range event.Parts {
			list[part.AccessionVersion] = string(seqlease.Processed)
		}
		final[pipeline] = list
	}
	for pipeline, list := range final {
		for av := range f.created {
			status := list[av]
			done := status == string(seqlease.Processed) || status == string(seqlease.ApprovedForRelease)
			switch {
			case f.deleted[av] && status != "":
				f.violations = append(f.violations, fmt.Sprintf("%s v%d was deleted, but is %s at the end", av, pipeline, status))
			case !f.deleted[av] && !done:
				f.violations = append(f.violations, fmt.Sprintf("%s v%d is lost: %q at the end", av, pipeline, status))
			}
		}
		for av := range list {
			if !f.created[av] {
				f.violations = append(f.violations, fmt.Sprintf("%s v%d is there at the end, but nobody created it", av, pipeline))
			}
		}
	}
}
