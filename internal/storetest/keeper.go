package storetest

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// keeperCases check what the background keeper does, beside what is in quarantine.
func keeperCases() []testCase {
	return []testCase{
		{name: "L4_SweepChangesNothingThatIsSeen", check: keeperSweepSeen},
		{name: "L4_SweepLeavesRunningLeasesAlone", check: keeperSweepRunning},
		{name: "L4_SweepEndsAtMostSoManyLeases", check: keeperSweepLimit},
		{name: "L4_SweptEntriesAreNotedAsExpired", check: keeperSweepNotes},
		{name: "L4_B013_SweepAndClaimAtOnceLoseNothing", check: keeperSweepAgainstClaim},
		{name: "L4_TwoKeepersSweepAtOnce", needs: SecondStore, check: keeperSweepTwo},
		{name: "V4_B010_ReconcileFillsGaps", needs: LoseTickets, check: keeperReconcile},
		{name: "V4_ReconcileAddsNothingWhereNothingIsMissing", check: keeperReconcileNothing},
		{name: "V4_ReconcileGoesPageByPage", needs: LoseTickets, check: keeperReconcilePages},
		{name: "V4_TwoKeepersReconcileAtOnce", needs: LoseTickets, check: keeperReconcileTwo},
		{name: "Keeper_HistoryIsTrimmedByAge", check: keeperTrim},
	}
}

// sweep ends every lease that is past its end and returns how many they were.
func (f *fixture) sweep(t *testing.T) int {
	t.Helper()
	all := 0
	for {
		n, err := f.Sweep(t.Context(), 100)
		if err != nil {
			t.Fatalf("sweep: %v", err)
		}
		if all += n; n == 0 {
			return all
		}
	}
}

// reconcile looks at every entry in pages and wants so many tickets added.
func (f *fixture) reconcile(t *testing.T, page, want int) {
	t.Helper()
	all := 0
	for after, pages := int64(0), 0; ; pages++ {
		added, last, err := f.Reconcile(t.Context(), after, page)
		if err != nil {
			t.Fatalf("reconcile: %v", err)
		}
		all += added
		if last == 0 {
			break
		}
		if last <= after || pages > 100_000 {
			t.Fatalf("the page after %d ends at %d", after, last)
		}
		after = last
	}
	wantSame(t, "tickets added", all, want)
}

func keeperSweepSeen(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	f.claim(t, 2)
	f.claim(t, 2)
	f.age(t, leaseTime)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 6})
	wantSame(t, "leases ended", f.sweep(t), 2)
	wantSame(t, "leases ended once more", f.sweep(t), 0)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 6})
	wantSame(t, "fresh ones", claimed(f.claim(t, suspects(4))), versions[4:])
	lease := f.claim(t, suspects(4))
	wantSame(t, "swept ones", claimed(lease), versions[:4])
	wantSame(t, "attempts", attempts(lease), []int{2, 2, 2, 2})
}

func keeperSweepRunning(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	lease := f.claim(t, 2)
	f.age(t, leaseTime-time.Minute)
	wantSame(t, "leases ended", f.sweep(t), 0)
	f.mustAccept(t, f.lines(t, lease)...)
	f.age(t, leaseTime)
	wantSame(t, "leases ended of which nothing is held", f.sweep(t), 0)
}

func keeperSweepLimit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 7)
	for range 7 {
		f.claim(t, 1)
	}
	f.age(t, leaseTime)
	for _, want := range []int{3, 3, 1, 0} {
		n, err := f.Sweep(t.Context(), 3)
		if err != nil {
			t.Fatalf("sweep: %v", err)
		}
		wantSame(t, "leases ended", n, want)
	}
}

func keeperSweepNotes(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	lease := f.claim(t, 3)
	f.mustAccept(t, f.lines(t, lease)[0])
	f.age(t, leaseTime)
	f.sweep(t)
	wantSame(t, "failures of what was accepted", f.history(t, versions[0]).Failures, nil)
	for _, av := range versions[1:] {
		failures := f.history(t, av).Failures
		if len(failures) != 1 {
			t.Fatalf("%s has %d failures, want 1", av, len(failures))
		}
		failure := failures[0]
		wantBetween(t, "expired", failure.At, f.now(t).Add(-time.Minute), f.now(t))
		failure.At = time.Time{}
		wantSame(t, "failure", failure, queue.Failure{
			PipelineVersion: 1, AttemptID: lease.AttemptID, Kind: queue.FailureExpired,
			WorkerID: "worker 1", ClaimedBy: worker, Counted: true,
		})
	}
}

func keeperSweepAgainstClaim(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 120)
	for range 12 {
		f.claim(t, 10)
	}
	f.age(t, leaseTime)
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for {
				if n, err := f.Sweep(t.Context(), 2); n == 0 || err != nil {
					return err
				}
			}
		})
	}
	seen := drain(t, f)
	if err := group.Wait(); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	for _, e := range f.claim(t, suspects(120)).Entries { // what the sweepers had locked when the claims passed
		seen[e.AccessionVersion]++
	}
	wantOnce(t, seen, versions)
	for _, av := range versions {
		wantSame(t, "failures of "+av.String(), len(f.history(t, av).Failures), 1)
	}
}

func keeperSweepTwo(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	f.submit(t, 60)
	for range 30 {
		f.claim(t, 2)
	}
	f.age(t, leaseTime)
	counts := make(chan int, 2)
	for _, s := range []*fixture{f, other} {
		go func() {
			all := 0
			for {
				n, err := s.Sweep(t.Context(), 4)
				if err != nil {
					t.Errorf("sweep: %v", err)
				}
				if all += n; n == 0 {
					counts <- all
					return
				}
			}
		}()
	}
	wantSame(t, "leases ended by both", <-counts+<-counts+f.sweep(t), 30)
	wantSame(t, "claimed", len(f.claim(t, suspects(60)).Entries), 60)
}

func keeperReconcile(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	versions, cchf := f.submit(t, 4), f.submitTo(t, CCHF, 2)
	lease := f.claim(t, 1)
	wantSame(t, "claimed", claimed(lease), versions[:1])
	for _, av := range []seqlease.AccessionVersion{done[0], versions[0], versions[2], cchf[1]} {
		f.h.Lose(t, f.Store, av) // versions[0] with its lease
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.Received: 4})
	mark := f.mark(t)
	f.reconcile(t, 1000, 3)
	f.reconcile(t, 1000, 0)
	if f.mark(t) == mark {
		t.Error("the mark is the same before and after the gap was filled")
	}
	wantRefused(t, f.accept(t, f.lines(t, lease)...), leaseLost(versions[:1])...)
	again := f.claim(t, 10)
	wantOnce(t, counted(again), versions)
	f.mustAccept(t, f.lines(t, again)...)
	wantSame(t, "claimed of "+string(CCHF), len(f.claimFrom(t, CCHF, 10).Entries), 2)
}

// counted counts the entries of a lease.
func counted(l queue.Lease) map[seqlease.AccessionVersion]int {
	counts := map[seqlease.AccessionVersion]int{}
	for _, e := range l.Entries {
		counts[e.AccessionVersion]++
	}
	return counts
}

func keeperReconcileNothing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.reconcile(t, 10, 0)
	f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	f.approveAll(t)
	f.spoil(t, 1)
	f.quarantineSpent(t)
	f.submit(t, 3)
	f.claim(t, 1)
	f.claim(t, 1)
	f.age(t, leaseTime) // two are in ended leases
	f.claim(t, 1)
	mark := f.mark(t)
	f.reconcile(t, 2, 0)
	wantSame(t, "mark", f.mark(t), mark)
}

func keeperReconcilePages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 25)
	for _, av := range versions {
		f.h.Lose(t, f.Store, av)
	}
	wantSame(t, "claimed", claimed(f.claim(t, 100)), nil)
	f.reconcile(t, 4, 25)
	wantOnce(t, counted(f.claim(t, 100)), versions)
}

func keeperReconcileTwo(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 30)
	for _, av := range versions {
		f.h.Lose(t, f.Store, av)
	}
	counts := make(chan int, 3)
	for range cap(counts) {
		go func() {
			added, _, err := f.Reconcile(t.Context(), 0, 1000)
			if err != nil {
				t.Errorf("reconcile: %v", err)
			}
			counts <- added
		}()
	}
	wantSame(t, "tickets added by all", <-counts+<-counts+<-counts, 30)
	wantOnce(t, counted(f.claim(t, 100)), versions)
}

func keeperTrim(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.expire(t, 2, 2)
	f.sweep(t)
	f.age(t, time.Hour)
	lease := f.claim(t, suspects(2)) // a third, alone or not
	f.giveBack(t, lease.AttemptID, true, len(lease.Entries))
	trim := func(keep time.Duration, limit int) int {
		t.Helper()
		n, err := f.TrimHistory(t.Context(), keep, limit)
		if err != nil {
			t.Fatalf("trim the history: %v", err)
		}
		return n
	}
	wantSame(t, "records trimmed that are younger", trim(3*time.Hour, 1000), 0)
	all := 0
	for {
		n := trim(time.Minute, 2)
		if n > 2 {
			t.Fatalf("%d records were trimmed, want at most 2", n)
		}
		if all += n; n == 0 {
			break
		}
	}
	if all == 0 {
		t.Error("nothing was trimmed")
	}
	for _, av := range versions {
		history := f.history(t, av)
		wantSame(t, "claims and failures left", []int{len(history.Claims), len(history.Failures)}, []int{1, 1})
	}
}
