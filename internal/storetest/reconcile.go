package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// reconcileCases check that no entry is without a way to be processed (L1, V4).
func reconcileCases() []testCase {
	return []testCase{
		{name: "V4_B010_ReconcileFillsGaps", needs: LoseTickets, check: keeperReconcile},
		{name: "V4_ReconcileAddsNothingWhereNothingIsMissing", check: keeperReconcileNothing},
		{name: "V4_ReconcileGoesPageByPage", needs: LoseTickets, check: keeperReconcilePages},
		{name: "V4_TwoKeepersReconcileAtOnce", needs: LoseTickets, check: keeperReconcileTwo},
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
