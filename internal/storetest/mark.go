package storetest

import (
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// markCases check the mark of a claim, from which "not modified" is answered.
func markCases() []testCase {
	return []testCase{
		{name: "L14_MarkIsStableWhileNothingIsAdded", check: markL14Stable},
		{name: "L14_MarkIsPrintableASCII", check: markL14Printable},
		{name: "L14_MarkChangesOnSubmitGiveBackAndEdit", check: markL14Changes},
		{name: "L14_B050_LeaseEndYieldsWorkUnderTheSameMark", check: markL14LeaseEnd},
		{name: "L14_GivenBackWorkFillsTheNextClaim", check: markL14BehindTheBound},
		{name: "L14_WorkGivenBackThroughAnotherServerIsSeenAtOnce", needs: SecondStore, check: markL14OtherServerGivesBack},
		{name: "L14_WorkSubmittedThroughAnotherServerIsSeenAtOnce", needs: SecondStore, check: markL14OtherServerSubmits},
		{name: "L14_SurplusOfATakeoverElsewhereIsSeenAtOnce", needs: SecondStore, check: markL14OtherServerTakesOver},
		{name: "L14_BothServersGiveTheSameMark", needs: SecondStore, check: markL14SameOnBoth},
		{name: "L13_AnotherOrganismLeavesTheMark", check: markL13OtherOrganism},
	}
}

// mark reads the mark of West Nile virus without claiming.
func (f *fixture) mark(t *testing.T) string {
	t.Helper()
	return f.claim(t, 0).Mark
}

func markL14Stable(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	f.claim(t, 2)
	mark := f.claim(t, 10).Mark
	for range 3 {
		wantSame(t, "mark of an empty claim", f.claim(t, 10).Mark, mark)
		wantSame(t, "mark that was only read", f.mark(t), mark)
		f.list(t, submission.ListFilter{Organism: WestNile})
		f.released(t)
	}
	f.age(t, leaseTime) // a lease that ends adds nothing
	wantSame(t, "mark after the lease end", f.mark(t), mark)
}

func markL14Printable(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, mark := range []string{f.mark(t), f.claim(t, 5).Mark} {
		if mark == "" {
			t.Error("the mark is empty")
		}
		for _, c := range mark {
			if c <= ' ' || c > '~' || c == '"' {
				t.Errorf("the mark %q has %q, which can't stand in an ETag", mark, c)
			}
		}
	}
}

func markL14Changes(t *testing.T, h Harness) {
	f := newFixture(t, h)
	last := f.mark(t)
	seen := map[string]bool{last: true}
	changed := func(event string) {
		t.Helper()
		mark := f.mark(t)
		if seen[mark] {
			t.Errorf("the mark %q after %s was there before", mark, event)
		}
		seen[mark] = true
	}
	versions := f.submit(t, 2)
	changed("a submission")
	lease := f.claim(t, 2)
	f.giveBack(t, lease.AttemptID, false, 2)
	changed("a give back")
	f.mustAccept(t, f.lines(t, f.claim(t, 2))...)
	seen[f.mark(t)] = true
	f.mustEdit(t, versions[0], submitted(7))
	changed("an edit")
}

func markL14LeaseEnd(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	f.claim(t, 3)
	empty := f.claim(t, 3)
	wantSame(t, "claimed while the lease runs", claimed(empty), nil)
	f.age(t, leaseTime)
	wantSame(t, "mark", f.mark(t), empty.Mark)
	wantSame(t, "claimed after the lease end", claimed(f.claim(t, suspects(3))), versions)
}

func markL14BehindTheBound(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 40)
	var first queue.Lease
	for i := range 5 {
		if lease := f.claim(t, 4); i == 0 {
			first = lease
		}
	}
	f.giveBack(t, first.AttemptID, false, 4)
	wantSame(t, "entries of a claim of all that waits", len(f.claim(t, 100).Entries), 24)
}

func markL14OtherServerGivesBack(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	versions := f.submit(t, 5)
	lease := f.claim(t, 5)
	empty := f.claim(t, 5)
	wantSame(t, "claimed while all is held", claimed(empty), nil)
	other.giveBack(t, lease.AttemptID, false, 5)
	if mark := f.mark(t); mark == empty.Mark {
		t.Errorf("the mark is %q before and after the give back", mark)
	}
	wantSame(t, "claimed after the give back", claimed(f.claim(t, 5)), versions)
}

func markL14OtherServerSubmits(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	for range 3 {
		wantSame(t, "claimed of nothing", claimed(f.claim(t, 5)), nil)
		versions := other.submit(t, 2)
		wantSame(t, "claimed after the submission", claimed(f.claim(t, 5)), versions)
	}
}

func markL14OtherServerTakesOver(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.submit(t, 10)
	f.claim(t, 10)
	f.age(t, leaseTime)
	wantSame(t, "entries of a small claim", len(other.claim(t, suspects(2)).Entries), 2)
	wantSame(t, "entries of the first server's claim", len(f.claim(t, suspects(10)).Entries), 8)
}

func markL14SameOnBoth(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.submit(t, 2)
	wantSame(t, "mark of the other server", other.mark(t), f.mark(t))
	f.giveBack(t, other.claim(t, 2).AttemptID, false, 2)
	wantSame(t, "mark of the other server after a give back", other.mark(t), f.mark(t))
}

func markL13OtherOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	mark := f.mark(t)
	f.submitTo(t, CCHF, 3)
	g := returned(f.claimFrom(t, CCHF, 2).AttemptID)
	g.Organism = CCHF
	mustGiveBack(t, f, g)
	wantSame(t, "mark", f.mark(t), mark)
	if other := f.claimFrom(t, CCHF, 0).Mark; other == mark {
		t.Errorf("both organisms have the mark %q", mark)
	}
}
