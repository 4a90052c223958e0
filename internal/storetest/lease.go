package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func leaseCases() []testCase {
	return []testCase{
		{name: "L11_LeaseEndIsByTheDatabaseClock", check: leaseL11End},
		{name: "L4_ExpiredEntryIsClaimable", check: leaseL4Claimable},
		{name: "L4_ExpiredEntryIsReceived", check: leaseL4Received},
		{name: "L4_RunningLeaseIsLeftAlone", check: leaseL4RunningStays},
		{name: "L4_RunningLeaseBesideAnEndedOneIsLeftAlone", check: leaseL4RunningBesideEnded},
		{name: "L4_ExpiredAndWaitingAreAllClaimed", check: leaseL4Mixture},
		{name: "L4_SurplusOfALargeExpiredLeaseIsClaimable", check: leaseL4Surplus},
		{name: "L4_B013_B020_ExpiryCountsAsAttemptEachTime", check: leaseL4EachCounts},
		{name: "L4_ConcurrentTakeoversNeverShare", check: leaseL4ConcurrentTakeovers},
		{name: "L4_ExpiredLeaseIsSeenByTheOtherServer", needs: SecondStore, check: leaseL4OtherServer},
	}
}

func leaseL11End(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	for _, duration := range []time.Duration{10 * time.Second, 10 * time.Minute, 24 * time.Hour} {
		c := ask(1)
		c.Lease = duration
		before := f.now(t)
		lease := f.claimAs(t, c)
		wantBetween(t, "lease end of "+c.Lease.String(), lease.Until, before.Add(c.Lease), f.now(t).Add(c.Lease))
		if lease.AttemptID != c.AttemptID || lease.Lease != c.Lease {
			t.Errorf("got a lease of attempt %s over %s, want %s over %s", lease.AttemptID, lease.Lease, c.AttemptID, c.Lease)
		}
	}
}

// suspects is how much to ask for to get n entries that cost one or two attempts (L9).
func suspects(n int) int { return n * queue.SuspectShare }

// freshAndSuspects makes two claims of n and returns which was of fresh entries
// and which of suspects: the order is the store's affair (L9).
func (f *fixture) freshAndSuspects(t *testing.T, n int) (queue.Lease, queue.Lease) {
	t.Helper()
	first, second := f.claim(t, n), f.claim(t, n)
	if len(first.Entries) > 0 && first.Entries[0].Attempt > 1 {
		return second, first
	}
	return first, second
}

func leaseL4Claimable(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	f.claim(t, 3)
	f.age(t, leaseTime)
	lease := f.claim(t, suspects(3))
	wantSame(t, "claimed after the lease end", claimed(lease), versions)
	wantSame(t, "attempts", attempts(lease), []int{2, 2, 2})
	wantSame(t, "ended leases", lease.Ended, 1)
	for i, e := range lease.Entries {
		wantSame(t, "data", f.data(t, e), string(submitted(i)))
	}
	f.mustAccept(t, f.lines(t, lease)...)
}

func leaseL4Received(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	f.claim(t, 2)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2})
	f.age(t, leaseTime)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2})
}

func leaseL4RunningStays(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	lease := f.claim(t, 2)
	f.age(t, leaseTime-time.Minute)
	wantSame(t, "claimed before the lease end", claimed(f.claim(t, 2)), nil)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2})
	f.mustAccept(t, f.lines(t, lease)...)
}

func leaseL4RunningBesideEnded(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	long := ask(2)
	long.Lease = 6 * leaseTime
	first := f.claimAs(t, long)
	f.claim(t, 2)
	long.AttemptID = seqlease.NewAttemptID()
	third := f.claimAs(t, long)
	f.age(t, leaseTime)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 4, seqlease.Received: 2})
	second := f.claim(t, 100)
	wantSame(t, "claimed", claimed(second), versions[2:4])
	for _, lease := range []queue.Lease{first, second, third} {
		f.mustAccept(t, f.lines(t, lease)...)
	}
}

func leaseL4Mixture(t *testing.T, h Harness) {
	f := newFixture(t, h)
	old := f.submit(t, 6)
	c := ask(2)
	f.claimAs(t, c)
	c.AttemptID = seqlease.NewAttemptID()
	f.claimAs(t, c)
	f.age(t, leaseTime) // four are in two ended leases, two still wait
	running := f.submit(t, 1)
	first, second := f.claim(t, 100), f.claim(t, 100)
	got := slices.Concat(claimed(first), claimed(second))
	slices.SortFunc(got, seqlease.AccessionVersion.Compare)
	wantSame(t, "claimed", got, slices.Concat(old, running))
	count := map[int]int{}
	for _, lease := range []queue.Lease{first, second} {
		for _, a := range attempts(lease) {
			count[a]++
		}
		f.mustAccept(t, f.lines(t, lease)...)
	}
	wantSame(t, "entries by attempt", count, map[int]int{1: 3, 2: 4})
}

func leaseL4Surplus(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 1500
	versions := f.submit(t, n)
	f.claim(t, n)
	f.age(t, leaseTime)
	first := f.claim(t, suspects(2))
	wantSame(t, "entries of a small claim", len(first.Entries), 2)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 2, seqlease.Received: n - 2})
	second := f.claim(t, suspects(n))
	wantSame(t, "entries of the next claim", len(second.Entries), n-2)
	all := slices.Concat(claimed(first), claimed(second))
	slices.SortFunc(all, seqlease.AccessionVersion.Compare)
	wantSame(t, "claimed", all, versions)
	for _, a := range slices.Concat(attempts(first), attempts(second)) {
		if a != 2 {
			t.Fatalf("attempt %d, want 2 for each entry", a)
		}
	}
}

func leaseL4EachCounts(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 1)
	for attempt := 1; attempt <= queue.DefaultRetry.Attempts; attempt++ { // B013: not dead after the first
		wantSame(t, "attempt", attempts(f.claim(t, 1)), []int{attempt})
		f.age(t, leaseTime)
	}
	wantSame(t, "claimed after the last attempt", claimed(f.claim(t, 1)), nil)
}

func leaseL4ConcurrentTakeovers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 600)
	for range 12 {
		f.claim(t, 50)
	}
	f.age(t, leaseTime)
	wantOnce(t, drain(t, f), versions)
}

func leaseL4OtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	versions := f.submit(t, 2)
	lease := f.claim(t, 2)
	wantSame(t, "claimed by the other server while the lease runs", claimed(other.claim(t, 2)), nil)
	f.age(t, leaseTime)
	wantSame(t, "claimed by the other server after the lease end", claimed(other.claim(t, suspects(2))), versions)
	wantRefused(t, f.accept(t, f.lines(t, lease)...), leaseLost(versions)...)
}

// leaseLost refuses the entries in this order for a lost lease, from line 1.
func leaseLost(versions []seqlease.AccessionVersion) []seqlease.Refusal {
	list := make([]seqlease.Refusal, len(versions))
	for i, av := range versions {
		list[i] = refused(i+1, av, seqlease.RefusedLeaseLost)
	}
	return list
}
