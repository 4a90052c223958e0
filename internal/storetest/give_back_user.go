package storetest

import (
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// giveBackUserCases check what a worker gives back by itself.
func giveBackUserCases() []testCase {
	return []testCase{
		{name: "L8_SomeEntriesAreGivenBackTheRestIsHeld", check: giveBackL8Some},
		{name: "L8_EntriesThatAreNotHeldArePassedOver", check: giveBackL8PassedOver},
		{name: "L8_B095_AnothersLeaseIsNotGivenBack", check: giveBackL8Anothers},
		{name: "L8_ReasonIsKept", check: giveBackL8Reason},
		{name: "L8_B020_HandOutsWithoutAttemptAreBounded", check: giveBackB020},
		{name: "L8_B022_DamagedIsGivenBackWhoeverClaimed", check: giveBackDamaged},
		{name: "L8_B035_ManyNamedEntriesAreGivenBack", check: giveBackB035},
		{name: "L8_GivenBackTwiceAtOnceCountsOnce", check: giveBackL8AtOnce},
		{name: "L8_UndeliveredAfterASweepGivesBackNothing", check: giveBackL8AfterSweep},
	}
}

// giveBackEntries returns some entries of the attempt, uncounted, and wants so many given back.
func (f *fixture) giveBackEntries(t *testing.T, id seqlease.AttemptID, entries []seqlease.AccessionVersion, want int) {
	t.Helper()
	g := returned(id)
	g.Entries = entries
	n, err := f.GiveBack(t.Context(), g)
	if err != nil {
		t.Fatalf("give back %d entries: %v", len(entries), err)
	}
	wantSame(t, "entries given back", n, want)
}

func giveBackL8Some(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	lease := f.claim(t, 6)
	lines := f.lines(t, lease)
	f.giveBackEntries(t, lease.AttemptID, []seqlease.AccessionVersion{versions[4], versions[1]}, 2)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2, seqlease.InProcessing: 4})
	wantRefused(t, f.accept(t, lines[1]), refused(2, versions[1], seqlease.RefusedLeaseLost))
	again := f.claim(t, 10)
	wantSame(t, "claimed afterwards", claimed(again), []seqlease.AccessionVersion{versions[1], versions[4]})
	wantSame(t, "attempts", attempts(again), []int{1, 1})
	f.mustAccept(t, lines[0], lines[2], lines[3], lines[5])
	f.mustAccept(t, f.lines(t, again)...)
}

func giveBackL8PassedOver(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lease, other := f.claim(t, 2), f.claim(t, 1)
	missing := seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, 999_999), Version: 1}
	mark := f.mark(t)
	f.giveBackEntries(t, lease.AttemptID, []seqlease.AccessionVersion{versions[2], versions[3], missing}, 0)
	f.giveBackEntries(t, lease.AttemptID, []seqlease.AccessionVersion{}, 0)
	wantSame(t, "mark after nothing was given back", f.mark(t), mark)
	f.giveBackEntries(t, lease.AttemptID, []seqlease.AccessionVersion{versions[2], versions[1], missing, versions[1]}, 1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3, seqlease.InProcessing: 2})
	f.mustAccept(t, f.lines(t, lease)[0])
	f.mustAccept(t, f.lines(t, other)...)
}

func giveBackL8Anothers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	lease := f.claim(t, 2)
	another, elsewhere := returned(lease.AttemptID), returned(lease.AttemptID)
	another.ClaimedBy = "another_pipeline"
	elsewhere.Organism = CCHF
	for _, g := range []queue.GiveBack{another, elsewhere} {
		n, err := f.GiveBack(t.Context(), g)
		wantError(t, err, seqlease.ErrLeaseLost)
		wantSame(t, "entries given back", n, 0)
	}
	f.wantStatuses(t, inProcessing(lease))
	f.mustAccept(t, f.lines(t, lease)...)
}

func giveBackL8Reason(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	for i, text := range append(slices.Clone(texts), string(slices.Repeat([]byte("x"), queue.MaxReasonBytes))) {
		lease := f.claim(t, 1)
		g := returned(lease.AttemptID)
		g.Reason = text
		if _, err := f.GiveBack(t.Context(), g); err != nil {
			t.Fatalf("give back because of %q: %v", text, err)
		}
		failures := f.history(t, versions[0]).Failures
		wantSame(t, "failures", len(failures), i+1)
		last := failures[len(failures)-1]
		wantSame(t, "reason", last.Reason, text)
		wantSame(t, "failure", []any{last.Kind, last.Counted, last.AttemptID, last.ClaimedBy, last.WorkerID, last.PipelineVersion},
			[]any{queue.FailureGivenBack, false, lease.AttemptID, worker, "worker 1", seqlease.PipelineVersion(1)})
	}
}

// giveBackB020 hands an entry back for ever: it goes alone from half of the bound
// on, and is never claimed beyond it.
func giveBackB020(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	bound := queue.DefaultRetry.HandOuts
	neighbour := false
	for handOuts := 0; handOuts < bound; {
		n := 1
		if handOuts >= (bound+1)/2 && !neighbour {
			n = 10
		}
		lease := f.claim(t, n)
		if n == 10 && slices.Equal(claimed(lease), versions[1:]) {
			neighbour = true
			f.mustAccept(t, f.lines(t, lease)...)
			continue
		}
		wantSame(t, "claimed", claimed(lease), versions[:1]) // alone, though its neighbour waits
		wantSame(t, "attempts", attempts(lease), []int{1})
		if handOuts++; handOuts%2 == 0 {
			f.giveBack(t, lease.AttemptID, false, 1)
		} else {
			f.giveBackUndelivered(t, lease.AttemptID, 1)
		}
	}
	wantSame(t, "claimed beyond the bound", claimed(f.claim(t, 100)), nil)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1, seqlease.Received: 1})
	spent := f.spent(t)
	if len(spent) != 1 {
		t.Fatalf("%d tickets are used up, want 1", len(spent))
	}
	wantSame(t, "used up", []any{spent[0].AccessionVersion, spent[0].Attempts, spent[0].HandOuts}, []any{versions[0], 0, bound})
}

func giveBackDamaged(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	n, err := f.GiveBack(t.Context(), queue.GiveBack{
		AttemptID: lease.AttemptID, Organism: WestNile, Entries: versions[1:2], Reason: "the document is damaged",
		CountsAsAttempt: true, Damaged: true,
	})
	if err != nil || n != 1 {
		t.Fatalf("give back damaged: %d entries, %v", n, err)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2, seqlease.Received: 1})
	failures := f.history(t, versions[1]).Failures
	if len(failures) != 1 {
		t.Fatalf("%d failures, want 1", len(failures))
	}
	wantSame(t, "failure", []any{failures[0].Kind, failures[0].Counted, failures[0].Reason},
		[]any{queue.FailureDamaged, true, "the document is damaged"})
	again := f.claim(t, 1)
	wantSame(t, "claimed", claimed(again), versions[1:2])
	wantSame(t, "attempts", attempts(again), []int{2})
	f.mustAccept(t, f.lines(t, lease)[0], f.lines(t, lease)[2])
}

func giveBackB035(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	for _, n := range []int{32_767, 65_536} {
		named := make([]seqlease.AccessionVersion, n)
		for i := range named {
			named[i] = seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, int64(i)+1_000_000), Version: 1}
		}
		named[n-1] = versions[0]
		versions = versions[1:]
		f.giveBackEntries(t, lease.AttemptID, named, 1)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Received: 2})
}

func giveBackL8AtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for range 5 {
		f.submit(t, 4)
		lease := f.claim(t, 4)
		counts := make(chan int, 4)
		for range cap(counts) {
			go func() {
				n, _ := f.GiveBack(t.Context(), returned(lease.AttemptID))
				counts <- n
			}()
		}
		total := 0
		for range cap(counts) {
			total += <-counts
		}
		wantSame(t, "entries given back", total, 4)
		again := f.claim(t, 10)
		wantSame(t, "attempts", attempts(again), []int{1, 1, 1, 1})
		f.mustAccept(t, f.lines(t, again)...)
	}
}

func giveBackL8AfterSweep(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	lease := f.claim(t, 2)
	f.age(t, leaseTime)
	wantSame(t, "leases ended", f.sweep(t), 1)
	f.giveBackUndelivered(t, lease.AttemptID, 0)
	wantSame(t, "attempts", attempts(f.claim(t, suspects(2))), []int{2, 2})
}
