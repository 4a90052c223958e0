package storetest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// suspectCases check that a bad entry takes no other down (L9).
func suspectCases() []testCase {
	return []testCase{
		{name: "L9_BatchesShrinkWithTheAttempts", check: suspectL9Shrink},
		{name: "L9_SuspectsAreAnEighthRoundedUp", check: suspectL9Eighth},
		{name: "L9_TakeoverKeepsToTheSameBatches", check: suspectL9Takeover},
		{name: "L9_FreshAndSuspectsAreNotMixedAndNeitherStarves", check: suspectL9NotMixed},
		{name: "L9_AloneBesideSuspectsDoesNotStarve", check: suspectL9AloneNotStarved},
		{name: "L9_SpentIsNeverClaimedButWaits", check: suspectL9Spent},
		{name: "L9_CountedGiveBacksUseAttemptsUpToo", check: suspectL9Counted},
		{name: "L9_NobodyIsQuarantinedForANeighbour", check: suspectL9Neighbours},
	}
}

// expire claims as often with lease ends between as to bring the entries, which
// wait alone and are fresh, to so many attempts.
func (f *fixture) expire(t *testing.T, entries, attempts int) {
	t.Helper()
	for attempt := range attempts {
		for left := entries; left > 0; {
			n := len(f.claim(t, suspects(left)).Entries)
			if n == 0 {
				t.Fatalf("nothing to claim for attempt %d with %d entries left", attempt+1, left)
			}
			left -= n
		}
		f.age(t, leaseTime)
	}
}

// sizes claims n at a time until nothing comes and counts the batches by size.
func (f *fixture) sizes(t *testing.T, n int) map[int]int {
	t.Helper()
	counts := map[int]int{}
	for {
		size := len(f.claim(t, n).Entries)
		if size == 0 {
			return counts
		}
		counts[size]++
	}
}

func suspectL9Shrink(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 24
	f.submit(t, n)
	for attempt, want := range []map[int]int{{n: 1}, {3: 8}, {3: 8}, {1: n}, {1: n}, {}} {
		counts := f.sizes(t, n)
		if !maps.Equal(counts, want) {
			t.Errorf("after %d attempts batches by size: %v, want %v", attempt, counts, want)
		}
		f.age(t, leaseTime)
	}
}

func suspectL9Eighth(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 60)
	f.expire(t, 60, 1)
	f.sweep(t) // all wait as tickets
	for _, c := range []struct{ ask, want int }{{1, 1}, {7, 1}, {8, 1}, {9, 2}, {16, 2}, {17, 3}, {80, 10}, {100, 13}} {
		wantSame(t, "suspects claimed", len(f.claim(t, c.ask).Entries), c.want)
	}
}

func suspectL9Takeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 40)
	f.claim(t, 40)
	f.age(t, leaseTime) // no sweeper: the claim takes over itself
	first := f.claim(t, 40)
	wantSame(t, "entries taken over", len(first.Entries), 5)
	wantSame(t, "attempts", attempts(first), []int{2, 2, 2, 2, 2})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 5, seqlease.Received: 35})
	wantSame(t, "batches of the rest", f.sizes(t, 40), map[int]int{5: 7})
}

// suspectL9NotMixed has fresh entries and suspects wait side by side: each claim
// has only the one or the other, and before either is drained both have come.
func suspectL9NotMixed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	suspected := f.submit(t, 30)
	f.expire(t, 30, 1)
	f.sweep(t)
	f.submit(t, 300)
	fresh, old := 0, 0
	for range 24 {
		lease := f.claim(t, 10)
		if len(lease.Entries) == 0 {
			t.Fatal("a claim found nothing")
		}
		ofSuspects := 0
		for _, av := range claimed(lease) {
			if slices.Contains(suspected, av) {
				ofSuspects++
			}
		}
		switch ofSuspects {
		case 0:
			fresh++
			wantSame(t, "fresh entries of a claim", len(lease.Entries), 10)
		case len(lease.Entries):
			old++
			wantSame(t, "suspects of a claim", ofSuspects, 2)
		default:
			t.Fatalf("a claim of %d entries has %d suspects", len(lease.Entries), ofSuspects)
		}
	}
	if old < 3 || fresh < 12 {
		t.Errorf("%d claims had fresh entries and %d suspects", fresh, old)
	}
}

func suspectL9AloneNotStarved(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 200)
	long := ask(200)
	long.Lease = 24 * time.Hour
	f.claimAs(t, long)
	alone := f.submit(t, 2)
	f.expire(t, 2, queue.AloneAttempts)
	f.age(t, long.Lease)
	f.sweep(t)
	f.submit(t, 500)
	seen := 0
	for range 32 { // fresh ones and suspects last longer
		lease := f.claim(t, 10)
		for _, av := range claimed(lease) {
			if slices.Contains(alone, av) {
				seen++
				wantSame(t, "entries beside one that goes alone", len(lease.Entries), 1)
			}
		}
	}
	wantSame(t, "entries that went alone", seen, 2)
}

func suspectL9Spent(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.expire(t, 2, queue.DefaultRetry.Attempts)
	for range 2 { // before and after the sweep
		f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
		for _, n := range []int{1, 100, queue.PayloadLimit + 1} {
			wantSame(t, "claimed", claimed(f.claim(t, n)), nil)
		}
		f.sweep(t)
	}
	more := f.submit(t, 1)
	wantSame(t, "claimed of what came later", claimed(f.claim(t, 10)), more)
	spent := f.spent(t)
	wantSame(t, "used up", spentEntries(spent), versions)
	for _, s := range spent {
		wantSame(t, "attempts", []int{s.Attempts, s.HandOuts}, []int{5, 5})
		wantSame(t, "failures", len(s.Failures), 5)
	}
}

func suspectL9Counted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	for range queue.DefaultRetry.Attempts {
		lease := f.claim(t, 1)
		wantSame(t, "claimed", claimed(lease), versions)
		f.giveBack(t, lease.AttemptID, true, 1)
	}
	wantSame(t, "claimed", claimed(f.claim(t, 1)), nil)
	wantSame(t, "used up", spentEntries(f.spent(t)), versions)
}

// suspectL9Neighbours has an entry that kills every worker that gets it: exactly
// that one ends in quarantine, and all others are processed.
func suspectL9Neighbours(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 100)
	bad := versions[37]
	for range 400 {
		f.quarantineSpent(t)
		lease := f.claim(t, 100)
		if len(lease.Entries) == 0 {
			break
		}
		if slices.Contains(claimed(lease), bad) {
			f.age(t, leaseTime) // the worker died without a word
			continue
		}
		f.mustAccept(t, f.lines(t, lease)...)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 100})
	quarantined := f.quarantined(t)
	if len(quarantined) != 1 || quarantined[0].AccessionVersion != bad {
		t.Fatalf("quarantined %v, want only %s", quarantined, bad)
	}
	wantSame(t, "attempts", quarantined[0].Attempts, queue.DefaultRetry.Attempts)
	wantSame(t, "released", len(f.approveAll(t)), 99)
}
