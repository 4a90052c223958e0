package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func giveBackCases() []testCase {
	return []testCase{
		{name: "L8_GivenBackIsClaimableAtOnceAndCostsNoAttempt", check: giveBackL8Free},
		{name: "L8_GivenBackCountedCostsAnAttempt", check: giveBackL8Counted},
		{name: "L8_UnknownAttemptGivesBackNothing", check: giveBackL8Unknown},
		{name: "L8_ResultsAfterGiveBackAreRefused", check: giveBackL8ResultsRefused},
		{name: "L8_GiveBackLeavesStoredResultsAlone", check: giveBackL8Partial},
		{name: "L8_GiveBackOfALargeLease", check: giveBackL8Large},
		{name: "L8_B020_LeaseThatRanOutCountsInSpiteOfGiveBack", check: giveBackL8RanOut},
		{name: "L8_GiveBackAfterTakeoverLeavesTheOtherLease", check: giveBackL8AfterTakeover},
		{name: "L8_UndeliveredCostsNoAttemptAfterTheLeaseEndEither", check: giveBackL8UndeliveredLate},
		{name: "L8_UndeliveredAfterTakeoverLeavesTheOtherLease", check: giveBackL8UndeliveredTakenOver},
		{name: "L8_UndeliveredAgainstTakeoverExactlyOneWins", check: giveBackL8UndeliveredAgainstTakeover},
	}
}

// returned is the fixtures' worker giving back all that the attempt holds.
func returned(id seqlease.AttemptID) queue.GiveBack {
	return queue.GiveBack{AttemptID: id, Organism: WestNile, ClaimedBy: worker}
}

// giveBack returns the attempt's lease and wants so many entries given back; with
// none it wants the lease lost.
func (f *fixture) giveBack(t *testing.T, id seqlease.AttemptID, counts bool, want int) {
	t.Helper()
	g := returned(id)
	g.CountsAsAttempt = counts
	n, err := f.GiveBack(t.Context(), g)
	if want == 0 {
		wantError(t, err, seqlease.ErrLeaseLost)
	} else if err != nil {
		t.Fatalf("give back: %v", err)
	}
	wantSame(t, "entries given back", n, want)
}

func giveBackL8Free(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	for range 4 {
		lease := f.claim(t, 3)
		wantSame(t, "claimed", claimed(lease), versions)
		wantSame(t, "attempts", attempts(lease), []int{1, 1, 1})
		f.giveBack(t, lease.AttemptID, false, 3)
		f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	}
}

func giveBackL8Counted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	for attempt := 1; attempt <= 3; attempt++ {
		lease := f.claim(t, 1)
		wantSame(t, "attempts", attempts(lease), []int{attempt})
		f.giveBack(t, lease.AttemptID, true, 1)
	}
}

func giveBackL8Unknown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	lease := f.claim(t, 1)
	f.giveBack(t, seqlease.NewAttemptID(), false, 0)
	f.giveBack(t, seqlease.AttemptID{}, false, 0)
	f.giveBack(t, lease.AttemptID, false, 1)
	f.giveBack(t, lease.AttemptID, false, 0)
	wantSame(t, "entries claimed", len(f.claim(t, 10).Entries), 1)
}

func giveBackL8ResultsRefused(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	lines := f.lines(t, lease)
	f.giveBack(t, lease.AttemptID, false, 2)
	wantRefused(t, f.accept(t, lines...), leaseLost(versions)...)
	again := f.claim(t, 2)
	wantRefused(t, f.accept(t, lines...), leaseLost(versions)...)
	f.mustAccept(t, f.lines(t, again)...)
}

func giveBackL8Partial(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lease := f.claim(t, 5)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[:2]...)
	f.giveBack(t, lease.AttemptID, false, 3)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.Received: 3})
	wantSame(t, "claimed afterwards", claimed(f.claim(t, 10)), versions[2:])
	f.mustAccept(t, lines[:2]...)
}

func giveBackL8Large(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 2300
	versions := f.submit(t, n)
	f.giveBack(t, f.claim(t, n).AttemptID, false, n)
	wantSame(t, "claimed afterwards", claimed(f.claim(t, n)), versions)
}

func giveBackL8RanOut(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	lease := f.claim(t, 1)
	f.age(t, leaseTime)
	f.giveBack(t, lease.AttemptID, false, 0)
	wantSame(t, "attempts", attempts(f.claim(t, 1)), []int{2})
}

func giveBackL8AfterTakeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	late := f.claim(t, 2)
	f.age(t, leaseTime)
	lease := f.claim(t, suspects(2))
	f.giveBack(t, late.AttemptID, false, 0)
	f.wantStatuses(t, inProcessing(lease))
	f.mustAccept(t, f.lines(t, lease)...)
}

// giveBackUndelivered returns a claim that didn't reach the worker and wants so
// many entries given back.
func (f *fixture) giveBackUndelivered(t *testing.T, id seqlease.AttemptID, want int) {
	t.Helper()
	n, err := f.GiveBack(t.Context(), queue.GiveBack{AttemptID: id, Undelivered: true})
	if err != nil {
		t.Fatalf("give back undelivered: %v", err)
	}
	wantSame(t, "entries given back", n, want)
}

func giveBackL8UndeliveredLate(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	for range 2 {
		lease := f.claim(t, 3)
		wantSame(t, "claimed", claimed(lease), versions)
		wantSame(t, "attempts", attempts(lease), []int{1, 1, 1})
		f.age(t, leaseTime)
		f.giveBackUndelivered(t, lease.AttemptID, 3)
		f.giveBackUndelivered(t, lease.AttemptID, 0)
		wantRefused(t, f.accept(t, f.lines(t, lease)...), leaseLost(versions)...)
		f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
	}
}

func giveBackL8UndeliveredTakenOver(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	late := f.claim(t, 2)
	f.age(t, leaseTime)
	lease := f.claim(t, suspects(2))
	wantSame(t, "attempts", attempts(lease), []int{2, 2})
	f.giveBackUndelivered(t, late.AttemptID, 0)
	f.wantStatuses(t, inProcessing(lease))
	f.mustAccept(t, f.lines(t, lease)...)
}

func giveBackL8UndeliveredAgainstTakeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.submit(t, 4)
		late := f.claim(t, 4)
		f.age(t, leaseTime)
		givenBack := make(chan int, 1)
		go func() {
			n, err := f.GiveBack(t.Context(), queue.GiveBack{AttemptID: late.AttemptID, Undelivered: true})
			if err != nil {
				n = -1
			}
			givenBack <- n
		}()
		lease := f.claim(t, suspects(4))
		n := <-givenBack
		if n == 4 && len(lease.Entries) == 0 { // the claim passed what the give back had locked
			lease = f.claim(t, 4)
		}
		attempt := 2
		if n == 4 {
			attempt = 1
		} else if n != 0 {
			t.Fatalf("round %d: %d entries were given back, want 4 or none", round, n)
		}
		wantSame(t, "claimed", claimed(lease), versions)
		wantSame(t, "attempts", attempts(lease), []int{attempt, attempt, attempt, attempt})
		f.mustAccept(t, f.lines(t, lease)...)
	}
}
