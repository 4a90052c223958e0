package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func renewCases() []testCase {
	return []testCase{
		{name: "L7_B004_RenewMovesTheLeaseEnd", check: renewL7Moves},
		{name: "L7_RenewCanShorten", check: renewL7Shortens},
		{name: "L7_RenewIsAsClaimedByDefault", check: renewL7AsClaimed},
		{name: "L7_B095_AnothersLeaseIsLost", check: renewL7Anothers},
		{name: "L7_UnknownAttemptIsLost", check: renewL7Unknown},
		{name: "L7_EndedLeaseIsNeverRevived", check: renewL7Ended},
		{name: "L7_LeaseThatHoldsNothingIsLost", check: renewL7Nothing},
		{name: "L7_B007_OneRenewalCoversAllThatIsHeldStill", check: renewL7Covers},
		{name: "L7_LostListsEditedDeletedFreedAndQuarantined", check: renewL7Lost},
		{name: "L7_AcceptedAndGivenBackAreNotLost", check: renewL7NotLost},
		{name: "L7_RenewOfALargeLease", check: renewL7Large},
		{name: "L7_RenewAgainstTakeoverExactlyOneWins", check: renewL7AgainstTakeover},
	}
}

// renewal is the fixtures' worker renewing the attempt.
func renewal(id seqlease.AttemptID, lease time.Duration) queue.Renew {
	return queue.Renew{Organism: WestNile, AttemptID: id, ClaimedBy: worker, Lease: lease}
}

// renew renews the attempt and checks the new end.
func (f *fixture) renew(t *testing.T, id seqlease.AttemptID, lease, want time.Duration) queue.Renewed {
	t.Helper()
	before := f.now(t)
	renewed, err := f.Renew(t.Context(), renewal(id, lease))
	if err != nil {
		t.Fatalf("renew by %s: %v", lease, err)
	}
	wantBetween(t, "renewed lease end", renewed.Until, before.Add(want), f.now(t).Add(want))
	wantSame(t, "lease", renewed.Lease, want)
	return renewed
}

// wantLost checks that the renewal is refused, and that it changed nothing of what is claimable.
func (f *fixture) wantLost(t *testing.T, r queue.Renew) {
	t.Helper()
	_, err := f.Renew(t.Context(), r)
	wantError(t, err, seqlease.ErrLeaseLost)
}

func renewL7Moves(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	lease := f.claim(t, 3)
	for range 5 { // far past the first end
		f.age(t, leaseTime-time.Minute)
		wantSame(t, "held", f.renew(t, lease.AttemptID, leaseTime, leaseTime).Held, 3)
		wantSame(t, "claimed while the lease runs", claimed(f.claim(t, suspects(3))), nil)
		f.wantStatuses(t, inProcessing(lease))
	}
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 3})
}

func renewL7Shortens(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	f.renew(t, lease.AttemptID, 10*time.Second, 10*time.Second)
	f.age(t, 10*time.Second)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
	wantRefused(t, f.accept(t, f.lines(t, lease)...), leaseLost(versions)...)
	wantSame(t, "claimed after the short lease", claimed(f.claim(t, suspects(2))), versions)
}

func renewL7AsClaimed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	c := ask(1)
	c.Lease = 90 * time.Second
	lease := f.claimAs(t, c)
	f.renew(t, lease.AttemptID, time.Hour, time.Hour)
	f.renew(t, lease.AttemptID, 0, c.Lease)
	f.age(t, c.Lease)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 1})
}

func renewL7Anothers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	another, elsewhere := renewal(lease.AttemptID, 24*time.Hour), renewal(lease.AttemptID, 24*time.Hour)
	another.ClaimedBy = "another_pipeline"
	elsewhere.Organism = CCHF
	f.wantLost(t, another)
	f.wantLost(t, elsewhere)
	f.age(t, leaseTime) // neither moved the end
	wantSame(t, "claimed after the lease end", claimed(f.claim(t, suspects(2))), versions)
}

func renewL7Unknown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	f.claim(t, 1)
	f.wantLost(t, renewal(seqlease.NewAttemptID(), leaseTime))
	f.wantLost(t, renewal(seqlease.AttemptID{}, leaseTime))
}

func renewL7Ended(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	f.age(t, leaseTime)
	for range 2 {
		f.wantLost(t, renewal(lease.AttemptID, leaseTime))
		f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
	}
	next := f.claim(t, suspects(2))
	wantSame(t, "claimed", claimed(next), versions)
	f.wantLost(t, renewal(lease.AttemptID, leaseTime))
	f.mustAccept(t, f.lines(t, next)...)
}

func renewL7Nothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	done, back := f.claim(t, 2), f.claim(t, 1)
	f.mustAccept(t, f.lines(t, done)...)
	f.giveBack(t, back.AttemptID, false, 1)
	f.wantLost(t, renewal(done.AttemptID, leaseTime))
	f.wantLost(t, renewal(back.AttemptID, leaseTime))
}

// A worker submits in pieces and renews what is left.
func renewL7Covers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 10
	f.submit(t, n)
	lease := f.claim(t, n)
	for i, line := range f.lines(t, lease) {
		wantSame(t, "held", f.renew(t, lease.AttemptID, 0, leaseTime).Held, n-i)
		f.age(t, leaseTime-time.Minute)
		f.mustAccept(t, line)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: n})
}

// held makes entries that have a result and are in processing again, so that they
// may be edited and deleted (V9).
func (f *fixture) held(t *testing.T, n int) ([]seqlease.AccessionVersion, queue.Lease) {
	t.Helper()
	versions := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, n)...)
	f.reprocess(t, queue.Selection{Organism: WestNile}, n)
	lease := f.claim(t, n)
	wantSame(t, "claimed to be processed again", claimed(lease), versions)
	return versions, lease
}

func renewL7Lost(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, lease := f.held(t, 6)
	lost := func(want ...seqlease.AccessionVersion) {
		t.Helper()
		renewed := f.renew(t, lease.AttemptID, 0, leaseTime)
		slices.SortFunc(renewed.Lost, seqlease.AccessionVersion.Compare)
		wantSame(t, "lost", renewed.Lost, want)
		wantSame(t, "held", renewed.Held, len(versions)-len(want))
	}
	lost()
	f.mustEdit(t, versions[2], submitted(9))
	lost(versions[2])
	f.mustDelete(t, versions[1])
	lost(versions[1], versions[2])
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: versions[:1]}, 1)
	lost(versions[0], versions[1], versions[2])
	f.quarantineEntries(t, versions[3:4], 1)
	lost(versions[:4]...)
	lost(versions[:4]...) // each time again
	f.free(t, queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{lease.AttemptID}}, 2)
	f.wantLost(t, renewal(lease.AttemptID, 0))
}

func renewL7NotLost(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 4)
	lease := f.claim(t, 4)
	f.mustAccept(t, f.lines(t, lease)[0])
	f.giveBackEntries(t, lease.AttemptID, versions[1:2], 1)
	renewed := f.renew(t, lease.AttemptID, 0, leaseTime)
	wantSame(t, "lost", renewed.Lost, nil)
	wantSame(t, "held", renewed.Held, 2)
}

func renewL7Large(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 2300
	versions := f.submit(t, n)
	lease := f.claim(t, n)
	lines := f.lines(t, lease)
	f.mustAccept(t, lines[1500:1510]...)
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: versions[2200:2201]}, 1)
	renewed := f.renew(t, lease.AttemptID, 2*leaseTime, 2*leaseTime)
	wantSame(t, "held", renewed.Held, n-11)
	wantSame(t, "lost", renewed.Lost, versions[2200:2201])
	f.age(t, leaseTime)
	f.mustAccept(t, slices.Concat(lines[:1500], lines[1510:2200], lines[2201:])...)
	f.age(t, leaseTime)
	wantSame(t, "claimed after the end", claimed(f.claim(t, suspects(n))), versions[2200:2201])
}

// renewL7AgainstTakeover renews around the instant of the lease end while another
// worker claims.
func renewL7AgainstTakeover(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 12 {
		f.submit(t, 2)
		lease := f.claim(t, 2)
		f.age(t, leaseTime-time.Duration(round)*2*time.Millisecond)
		renewed := make(chan error, 1)
		go func() {
			_, err := f.Renew(t.Context(), renewal(lease.AttemptID, leaseTime))
			renewed <- err
		}()
		next := f.claim(t, suspects(2))
		err := <-renewed
		if len(next.Entries) == 0 && err != nil { // the claim was before the end, the renewal behind it
			next = f.claim(t, suspects(2))
		}
		if held := len(next.Entries) > 0; held == (err == nil) {
			t.Errorf("round %d: the renewal answered %v and %d entries were taken over", round, err, len(next.Entries))
		}
		if err == nil {
			next = lease
		}
		f.mustAccept(t, f.lines(t, next)...)
	}
}
