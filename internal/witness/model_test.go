package witness_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

func options() witness.Options {
	return witness.Options{
		Current: 1, Pipelines: []seqlease.PipelineVersion{1},
		Bounds: witness.Bounds{Attempts: 3, HandOuts: 3}, Timeout: time.Minute,
	}
}

type tape []witness.Event

// Each history is what a correct store may answer.
func TestCheck_AllowsWhatTheRulesAllow(t *testing.T) {
	t.Parallel()
	for name, events := range allowed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			orders, facts := judge(twoVersions(events), events)
			for _, violation := range append(orders, facts...) {
				t.Error(violation)
			}
		})
	}
}

// second2 makes the call one of pipeline version 2.
func second2(e witness.Event) witness.Event { e.Pipeline = 2; return e }

// retag makes the claim one of other data.
func retag(e witness.Event, tag string) witness.Event { e.Parts[0].Tag = tag; return e }

// twoVersions are the options with version 2 if it occurs; a last reading says nothing of it.
func twoVersions(events tape) witness.Options {
	o := options()
	for _, e := range events {
		if e.Pipeline == 2 {
			o.Pipelines = []seqlease.PipelineVersion{1, 2}
			return o
		}
	}
	return o
}

// Each history has one fault, which the search must find; those that the quick
// comparisons must find too say so.
func TestCheck_FindsEachViolation(t *testing.T) {
	t.Parallel()
	for name, c := range violations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := slices.Concat(c.before, c.more)
			o := twoVersions(events)
			o.Drained = true
			orders, facts := judge(o, events)
			if len(orders) == 0 {
				t.Error("the search found an order in which all is right")
			}
			if c.fact != "" && !strings.Contains(strings.Join(facts, "\n"), c.fact) {
				t.Errorf("facts %q, want one with %q", facts, c.fact)
			}
		})
	}
}

func TestCheck_SaysWhereNoOrderGoesOn(t *testing.T) {
	t.Parallel()
	orders, _ := judge(options(), tape{create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", leaseLost)})
	if len(orders) != 1 {
		t.Fatalf("%d violations, want 1", len(orders))
	}
	for _, want := range []string{"A_1.1 v1: no order of the 3 calls", "claim v1 01000000 by ann", "none of these may be next", `tag "r1": lease-lost`} {
		if !strings.Contains(orders[0], want) {
			t.Errorf("the report lacks %q:\n%s", want, orders[0])
		}
	}
}

func TestCheck_ASearchThatTakesTooLongIsAFault(t *testing.T) {
	t.Parallel()
	events := tape{create(0, 5), claim(10, 12, first, 1, 100_000)}
	for range 40 { // calls at once, of which none is possible last
		events = append(events, unanswered(renew(20, 25, first, 1000)), unanswered(giveBack(20, 25, second, 1)))
	}
	events = append(events, submit(5000, 5001, first, "r1", edited))
	o := options()
	o.Timeout = 10 * time.Millisecond
	orders, _ := judge(o, events)
	if len(orders) != 1 || !strings.Contains(orders[0], "took longer than 10ms: record fewer calls") {
		t.Errorf("violations %q", orders)
	}
}

// What the records say of claims without an answer leaves no room for excuses.
func TestCheck_RecordsOfClaims(t *testing.T) {
	t.Parallel()
	record := func(id seqlease.AttemptID, n, try int) witness.Record {
		return witness.Record{Attempt: id, Pipeline: 1, User: ann, At: at(n), Lease: ms(100), Parts: []witness.Part{{AccessionVersion: entry, Try: try}}}
	}
	unheard := with(unanswered(claim(10, 12, seqlease.AttemptID{}, 0, 100)), func(e *witness.Event) { e.Parts = nil })
	start := tape{create(0, 5), unheard}
	createBoth := call(witness.Create, 0, 5, witness.Part{Tag: "d0"}, witness.Part{AccessionVersion: another, Tag: "d0"})
	deleteOther := call(witness.Delete, 15, 35, witness.Part{AccessionVersion: another})
	oneOfTwo := func(e *witness.Event) { e.Pipeline = 2 }
	otherRecord := record(second, 10, 1)
	otherRecord.Parts = []witness.Part{{AccessionVersion: another, Try: 1}}
	twice := record(first, 10, 1)
	twice.Pipeline, twice.Parts = 2, append(twice.Parts, witness.Part{AccessionVersion: another, Try: 1})
	for name, c := range map[string]struct {
		events  tape
		records []witness.Record
		want    string // part of a violation; empty: there is none
	}{
		"held until the end":           {append(start, read(50, 51, seqlease.InProcessing), claim(120, 125, second, 2, 100)), []witness.Record{record(first, 11, 1), record(second, 120, 2)}, ""},
		"given back by the server":     {append(start, claim(20, 25, second, 1, 100)), []witness.Record{record(first, 11, 1), record(second, 20, 1)}, ""},
		"given back after the end":     {append(start, claim(150, 155, second, 1, 100)), []witness.Record{record(first, 11, 1), record(second, 150, 1)}, ""},
		"shortened":                    {append(start, shorten(20, 25, first, 40), claim(50, 55, second, 2, 100)), []witness.Record{record(first, 11, 1), record(second, 50, 2)}, ""},
		"shortened, but nobody's":      {append(start, shorten(20, 25, third, 40)), []witness.Record{record(first, 11, 1)}, "no order"},
		"it never happened":            {append(start, claim(20, 25, second, 1, 100)), []witness.Record{record(second, 20, 1)}, ""},
		"it never happened, but holds": {append(start, read(20, 25, seqlease.InProcessing)), nil, "no order"},
		"it never happened, but costs": {append(start, claim(20, 25, second, 2, 100)), []witness.Record{record(second, 20, 2)}, "no order"},
		"it holds, but is overlooked":  {append(start, claim(20, 25, second, 2, 100)), []witness.Record{record(first, 11, 1), record(second, 20, 2)}, "no order"},
		"deleted before the answer":    {tape{createBoth, with(claim(10, 40, first, 1, 100), oneOfTwo), deleteOther}, []witness.Record{twice}, ""},
		"lost, and claimed anew":       {tape{createBoth, with(claim(10, 40, second, 1, 100), func(e *witness.Event) { e.Parts[0].AccessionVersion = another }), remove(15, 35)}, []witness.Record{record(first, 10, 1), otherRecord}, ""},
		"left out without a reason":    {tape{createBoth, with(claim(10, 40, first, 1, 100), oneOfTwo)}, []witness.Record{twice}, "the record of the claim is another"},
		"nobody made the claim":        {tape{create(0, 5)}, []witness.Record{record(first, 11, 1)}, "a claim that nobody made"},
		"the record lacks":             {tape{create(0, 5), claim(10, 12, first, 1, 100)}, nil, "no record of the claim"},
		"the record is another":        {tape{create(0, 5), claim(10, 12, first, 1, 100)}, []witness.Record{record(first, 10, 2)}, "the record of the claim is another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := witness.NewRecorder(func() time.Duration { return 0 })
			for _, e := range c.events {
				recorder.Add(e)
			}
			recorder.Record(c.records)
			h := recorder.History()
			h.Early, h.Late = epoch, epoch
			o := options()
			o.Pipelines = []seqlease.PipelineVersion{1, 2}
			violations := strings.Join(append(witness.Check(h, o), witness.Facts(h, o)...), "\n")
			if c.want == "" && violations != "" || !strings.Contains(violations, c.want) {
				t.Errorf("violations %q, want one with %q", violations, c.want)
			}
		})
	}
}

func TestFacts_FindsWhatNeedsNoSearch(t *testing.T) {
	t.Parallel()
	both := []witness.Part{{AccessionVersion: entry, Tag: "d0", Try: 1}, {AccessionVersion: another, Tag: "d0", Try: 1}}
	claimOf := func(asked int, parts ...witness.Part) witness.Event {
		return with(claim(10, 12, first, 1, 100), func(e *witness.Event) { e.Asked, e.Parts = asked, parts })
	}
	tries := func(tries ...int) []witness.Part {
		list := make([]witness.Part, len(tries))
		for i, try := range tries {
			list[i] = witness.Part{AccessionVersion: seqlease.AccessionVersion{Accession: "A_1", Version: seqlease.Version(i + 1)}, Tag: "d0", Try: try}
		}
		return list
	}
	createAll := call(witness.Create, 0, 5, append(tries(0, 0, 0), both[1])...)
	for name, c := range map[string]struct {
		events tape
		want   string
	}{
		"more than asked for":         {tape{createAll, claimOf(1, both...)}, "2 entries for a claim of 1"},
		"an entry twice":              {tape{createAll, claimOf(9, both[0], both[0])}, "is in the claim twice"},
		"an entry nobody created":     {tape{create(0, 5), claimOf(9, both...)}, "nobody created it"},
		"suspects among healthy ones": {tape{createAll, claimOf(100, tries(1, 2)...)}, "1 suspects among 2 entries"},
		"too many suspects":           {tape{createAll, claimOf(9, tries(2, 2, 2)...)}, "3 suspects for a claim of 9"},
		"the last attempt in company": {tape{createAll, claimOf(100, tries(2, 3)...)}, "one that goes alone"},
		"an attempt id twice":         {tape{createAll, claimOf(9, both[0]), claimOf(9, both[1])}, "that of another claim"},
		"a flawed line stored": {tape{createAll, claimOf(9, both[0]), with(submit(20, 25, first, "r", witness.Stored), func(e *witness.Event) {
			e.Parts[0].Flawed = true
		})}, "a flawed line"},
		"more held than claimed":       {tape{create(0, 5), claim(10, 12, first, 1, 100), with(renew(50, 55, first, 100), func(e *witness.Event) { e.Count = 2 })}, "at most 1"},
		"more given back than claimed": {tape{createAll, claimOf(9, both[0]), giveBack(20, 25, first, 2)}, "at most 1"},
		"claimed while paused":         {tape{createAll, call(witness.Pause, 6, 7), claimOf(9, both[0]), call(witness.Resume, 20, 25)}, "while the queue was paused"},
		"an entry from nowhere":        {tape{create(0, 5), claimOf(9, both[0]), call(witness.Read, 20, 25, witness.Part{Status: seqlease.Processed}, witness.Part{AccessionVersion: another, Status: seqlease.Processed})}, "nobody created it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Drained = true
			_, facts := judge(o, c.events)
			if !strings.Contains(strings.Join(facts, "\n"), c.want) {
				t.Errorf("facts %q, want one with %q", facts, c.want)
			}
		})
	}
}

func TestRecorder_TheNarrowestObservationOfTheClockCounts(t *testing.T) {
	t.Parallel()
	r := witness.NewRecorder(func() time.Duration { return ms(7) })
	if r.Now() != ms(7) {
		t.Errorf("now %s", r.Now())
	}
	r.Calibrate(ms(100), at(150), ms(200))
	r.Calibrate(ms(300), at(301), ms(302))
	r.Calibrate(ms(400), at(450), ms(500))
	r.Add(create(20, 30))
	r.Add(create(10, 40))
	h := r.History()
	if h.Early != epoch-1001 || h.Late != epoch+1001 {
		t.Errorf("offset between %d and %d µs", h.Early-epoch, h.Late-epoch)
	}
	if len(h.Events) != 2 || h.Events[0].Call != ms(10) {
		t.Errorf("events %v", h.Events)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	r := witness.NewRecorder(func() time.Duration { return 0 })
	for _, e := range (tape{
		claim(1, 2, first, 1, 10), claim(1, 2, second, 2, 10), unanswered(claim(1, 2, third, 1, 10)), call(witness.Claim, 1, 2),
		submit(3, 4, first, "r", witness.Stored), submit(3, 4, first, "r", leaseLost), refused(renew(5, 6, first, 10)),
		results(7, 8, seqlease.AttemptID{9}),
	}) {
		r.Add(e)
	}
	n := r.History().Tally()
	for what, want := range map[string]int{
		"claim": 2, "claim unanswered": 1, "claim of nothing": 1, "claimed again": 1, "submit": 2, "line stored": 1, "line lease-lost": 1, "renew refused": 1,
		"quarantined": 1,
	} {
		if n[what] != want {
			t.Errorf("%s: %d, want %d", what, n[what], want)
		}
	}
}
