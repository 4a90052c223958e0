package storetest

import (
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func historyCases() []testCase {
	return []testCase{
		{name: "History_TellsEveryClaimByStart", check: historyClaims},
		{name: "History_TellsHowEachAttemptWentWrong", check: historyFailures},
		{name: "History_TakeoverNotesTheEndOfTheLease", check: historyTakeover},
		{name: "History_B017_RefusalsAreNotedInBothModes", check: historyRefusals},
		{name: "History_RefusalsOfAnAttemptAreBounded", check: historyRefusalsBounded},
		{name: "History_RefusalsAreNotedOnlyForWhatIsHeld", check: historyRefusalsHeld},
		{name: "History_ClaimTellsWhetherItsResultIsThePresentOne", check: historyAccepted},
		{name: "History_IsCutAtTheLimit", check: historyLimit},
		{name: "History_OfWhatDoesNotExistIsNotFound", check: historyNotFound},
		{name: "L10_DeletedEntryHasNoHistory", check: historyL10},
		{name: "History_OfALargeClaim", check: historyLarge},
		{name: "L9_HistoryTellsWhyAnEntryIsInQuarantine", check: historyQuarantine},
	}
}

// history reads up to 100 of each of what became of an entry.
func (f *fixture) history(t *testing.T, av seqlease.AccessionVersion) queue.History {
	t.Helper()
	history, err := f.History(t.Context(), WestNile, av, 100)
	if err != nil {
		t.Fatalf("history of %s: %v", av, err)
	}
	return history
}

func historyClaims(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	versions := f.submit(t, 3)
	first := f.claim(t, 3)
	f.age(t, leaseTime)
	c := ask(suspects(3))
	c.ClaimedBy, c.WorkerID, c.Lease = "another_pipeline", "worker 2", time.Hour
	second := f.claimAs(t, c)
	for _, av := range versions {
		claims := f.history(t, av).Claims
		if len(claims) != 2 {
			t.Fatalf("%s has %d claims, want 2", av, len(claims))
		}
		wantBetween(t, "first claim", claims[0].ClaimedAt, before.Add(-leaseTime), f.now(t).Add(-leaseTime))
		wantBetween(t, "second claim", claims[1].ClaimedAt, before, f.now(t))
		wantBetween(t, "lease end", claims[1].Until, second.Until, second.Until)
		for i := range claims {
			claims[i].ClaimedAt, claims[i].Until = time.Time{}, time.Time{}
		}
		wantSame(t, "claims", claims, []queue.ClaimRecord{
			{AttemptID: first.AttemptID, PipelineVersion: 1, ClaimedBy: worker, WorkerID: "worker 1", Lease: leaseTime, Attempt: 1, Entries: 3},
			{AttemptID: second.AttemptID, PipelineVersion: 1, ClaimedBy: c.ClaimedBy, WorkerID: c.WorkerID, Lease: c.Lease, Attempt: 2, Entries: 3, Holding: true},
		})
	}
}

// historyFailures has the same entry fail in each way.
func historyFailures(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	var want []queue.Failure
	noted := func(l queue.Lease, kind queue.FailureKind, counted bool, reason string) {
		t.Helper()
		want = append(want, queue.Failure{
			PipelineVersion: 1, AttemptID: l.AttemptID, Kind: kind, WorkerID: "worker 1", ClaimedBy: worker, Counted: counted, Reason: reason,
		})
		failures := f.history(t, versions[0]).Failures
		for i := range failures {
			wantBetween(t, "failure", failures[i].At, f.now(t).Add(-time.Hour), f.now(t))
			failures[i].At = time.Time{}
		}
		wantSame(t, "failures", failures, want)
		f.age(t, time.Second)
	}
	lease := f.claim(t, 1)
	f.giveBackUndelivered(t, lease.AttemptID, 1)
	noted(lease, queue.FailureUndelivered, false, "")

	lease = f.claim(t, 1)
	g := returned(lease.AttemptID)
	g.Reason = "shutting down"
	mustGiveBack(t, f, g)
	noted(lease, queue.FailureGivenBack, false, "shutting down")

	lease = f.claim(t, 1)
	g.AttemptID, g.Reason, g.CountsAsAttempt = lease.AttemptID, "crashed", true
	mustGiveBack(t, f, g)
	noted(lease, queue.FailureGivenBack, true, "crashed")

	lease = f.claim(t, 1)
	mustGiveBack(t, f, queue.GiveBack{AttemptID: lease.AttemptID, Organism: WestNile, Damaged: true, CountsAsAttempt: true, Reason: "unreadable"})
	noted(lease, queue.FailureDamaged, true, "unreadable")

	lease = f.claim(t, 1)
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: versions, Reason: "stuck"}, 1)
	noted(lease, queue.FailureFreed, true, "stuck")

	lease = f.claim(t, 1)
	f.age(t, leaseTime)
	f.sweep(t)
	noted(lease, queue.FailureExpired, true, "")
}

func mustGiveBack(t *testing.T, f *fixture, g queue.GiveBack) {
	t.Helper()
	if _, err := f.GiveBack(t.Context(), g); err != nil {
		t.Fatalf("give back: %v", err)
	}
}

// A claim that takes an ended lease over notes what a sweeper would have noted.
func historyTakeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 20)
	lease := f.claim(t, 20)
	f.age(t, leaseTime)
	f.claim(t, suspects(2))
	f.sweep(t) // the surplus, if it isn't noted yet
	for _, av := range versions {
		failures := f.history(t, av).Failures
		if len(failures) != 1 {
			t.Fatalf("%s has %d failures, want 1", av, len(failures))
		}
		failure := failures[0]
		wantSame(t, "failure", []any{failure.Kind, failure.AttemptID, failure.Counted, failure.ClaimedBy, failure.WorkerID},
			[]any{queue.FailureExpired, lease.AttemptID, true, worker, "worker 1"})
	}
}

func historyRefusals(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	s := results(f.lines(t, lease)[0])
	s.Invalid = []seqlease.Refusal{
		{AccessionVersion: versions[1], Line: 2, Reason: seqlease.RefusedInvalid, Detail: "field country: is a number"},
		{Line: 3, Reason: seqlease.RefusedInvalid, Detail: "not JSON"},
	}
	if err := f.submitResults(t, s); err == nil {
		t.Fatal("a body with invalid lines was accepted")
	}
	f.skip(t, s)
	for i, want := range []int{0, 2, 0} {
		wantSame(t, "failures of "+versions[i].String(), len(f.history(t, versions[i]).Failures), want)
	}
	for _, failure := range f.history(t, versions[1]).Failures {
		failure.At = time.Time{}
		wantSame(t, "failure", failure, queue.Failure{
			PipelineVersion: 1, AttemptID: lease.AttemptID, Kind: queue.FailureRefused,
			WorkerID: "worker 1", ClaimedBy: worker, Reason: "field country: is a number",
		})
	}
}

func historyRefusalsHeld(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 2)
	invalid := func(av seqlease.AccessionVersion) seqlease.Refusal {
		return seqlease.Refusal{AccessionVersion: av, Line: 1, Reason: seqlease.RefusedInvalid, Detail: "unknown field"}
	}
	s := results(f.line(t, 2, versions[0], seqlease.NewAttemptID(), "of no claim", seqlease.NoIssues))
	s.Invalid = []seqlease.Refusal{invalid(versions[2])} // waits
	f.skip(t, s)
	s = results()
	s.ClaimedBy, s.Invalid = "another_pipeline", []seqlease.Refusal{invalid(versions[1])}
	f.skip(t, s)
	f.age(t, leaseTime)
	f.skip(t, results(f.lines(t, lease)...)) // late
	for _, av := range versions {
		for _, failure := range f.history(t, av).Failures {
			if failure.Kind == queue.FailureRefused {
				t.Errorf("%s has %+v, though nobody held it", av, failure)
			}
		}
	}
}

func historyAccepted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	accepted := func() []bool {
		t.Helper()
		var list []bool
		for _, c := range f.history(t, versions[0]).Claims {
			list = append(list, c.Accepted != nil)
			if c.Accepted != nil {
				wantBetween(t, "accepted", *c.Accepted, c.ClaimedAt, f.now(t))
			}
			if c.Holding {
				wantSame(t, "held though the result was accepted", list[len(list)-1], false)
			}
		}
		return list
	}
	wantSame(t, "accepted", accepted(), []bool{true})
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	lease := f.claim(t, 1)
	wantSame(t, "accepted while it is processed again", accepted(), []bool{true, false})
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "better", seqlease.NoIssues))
	wantSame(t, "accepted after that", accepted(), []bool{false, true})
	f.mustEdit(t, versions[0], submitted(5))
	wantSame(t, "accepted after an edit", accepted(), []bool{false, false})
}

func historyLimit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	var ids []seqlease.AttemptID
	for range 7 {
		lease := f.claim(t, 1)
		ids = append(ids, lease.AttemptID)
		f.giveBack(t, lease.AttemptID, false, 1)
		f.age(t, time.Second)
	}
	history, err := f.History(t.Context(), WestNile, versions[0], 3)
	if err != nil {
		t.Fatalf("history: %v", err)
	}
	var claims, failures []seqlease.AttemptID
	for _, c := range history.Claims {
		claims = append(claims, c.AttemptID)
	}
	for _, failure := range history.Failures {
		failures = append(failures, failure.AttemptID)
	}
	wantSame(t, "claims", claims, ids[4:])
	wantSame(t, "failures", failures, ids[4:])
}

func historyNotFound(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	fresh := f.history(t, versions[0])
	fresh.Happened = nil
	wantSame(t, "history of a fresh entry, but for its submission", fresh, queue.History{})
	for name, ask := range map[string]struct {
		o  seqlease.Organism
		av seqlease.AccessionVersion
	}{
		"another organism": {CCHF, versions[0]},
		"another version":  {WestNile, seqlease.AccessionVersion{Accession: versions[0].Accession, Version: 2}},
		"unknown":          {WestNile, seqlease.AccessionVersion{Accession: "NO", Version: 1}},
	} {
		if _, err := f.History(t.Context(), ask.o, ask.av, 10); err == nil {
			t.Errorf("%s: a history was found", name)
		} else {
			wantError(t, err, seqlease.ErrNotFound)
		}
	}
}

func historyL10(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.giveBack(t, f.claim(t, 2).AttemptID, true, 2)
	f.mustDelete(t, versions[0])
	_, err := f.History(t.Context(), WestNile, versions[0], 10)
	wantError(t, err, seqlease.ErrNotFound)
	wantSame(t, "failures of its neighbour", len(f.history(t, versions[1]).Failures), 1)
}

func historyLarge(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 2300
	versions := f.submit(t, n)
	lease := f.claim(t, n)
	for _, i := range []int{0, 999, 1000, n - 1} {
		claims := f.history(t, versions[i]).Claims
		if len(claims) != 1 {
			t.Fatalf("entry %d has %d claims, want 1", i, len(claims))
		}
		wantSame(t, "claim", []any{claims[0].AttemptID, claims[0].Entries, claims[0].Attempt, claims[0].Holding}, []any{lease.AttemptID, n, 1, true})
	}
}
