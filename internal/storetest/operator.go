package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func operatorCases() []testCase {
	return []testCase{
		{name: "L16_LeasesShowWhoHoldsWhat", check: operatorLeases},
		{name: "L16_LeasesComeInPages", check: operatorLeasePages},
		{name: "L16_FreedEntriesAreClaimableAtOnce", check: operatorFree},
		{name: "L16_FreeTakesAllConditionsTogether", check: operatorFreeConditions},
		{name: "L16_FreedAgainstResultExactlyOneWins", check: operatorFreeAgainstResult},
		{name: "L16_FreeOfALargeLease", check: operatorFreeLarge},
		{name: "L16_FailingWorkersAreShown", check: operatorFailingWorkers},
	}
}

const operatorName = "olga"

// pages calls f until it has come to the end and returns the sum.
func pages(t *testing.T, what string, call func(after int64) (int, int64, error)) int {
	t.Helper()
	all := 0
	for after := int64(0); ; {
		n, last, err := call(after)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		all += n
		if last == 0 {
			return all
		}
		if last <= after {
			t.Fatalf("%s: the page after %d ends at %d", what, after, last)
		}
		after = last
	}
}

// free frees what is asked for and wants so many entries freed.
func (f *fixture) free(t *testing.T, what queue.FreeLeases, want int) {
	t.Helper()
	all := 0
	for {
		n, more, err := f.FreeLeases(t.Context(), what, 3)
		if err != nil {
			t.Fatalf("free leases: %v", err)
		}
		if all += n; !more {
			wantSame(t, "entries freed", all, want)
			return
		}
	}
}

// requeue takes the selection out of quarantine and wants that many to be in it.
func (f *fixture) requeue(t *testing.T, s queue.Selection, want int) {
	t.Helper()
	wantSame(t, "entries requeued", pages(t, "requeue", func(after int64) (int, int64, error) {
		return f.Requeue(t.Context(), s, after, 500)
	}), want)
}

// reprocess makes the selection wait again and wants so many entries in it.
func (f *fixture) reprocess(t *testing.T, s queue.Selection, want int) {
	t.Helper()
	wantSame(t, "entries to be processed again", pages(t, "reprocess", func(after int64) (int, int64, error) {
		return f.Reprocess(t.Context(), s, after, 500)
	}), want)
}

// leases lists the leases page by page.
func (f *fixture) leases(t *testing.T, page int) []queue.HeldLease {
	t.Helper()
	var all []queue.HeldLease
	var after *queue.HeldLease
	for {
		list, err := f.Leases(t.Context(), WestNile, after, page)
		if err != nil {
			t.Fatalf("leases: %v", err)
		}
		if len(list) > page {
			t.Fatalf("a page of %d leases, want at most %d", len(list), page)
		}
		if len(list) == 0 {
			return all
		}
		all = append(all, list...)
		after = &all[len(all)-1]
	}
}

func operatorLeases(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 20)
	f.submitTo(t, CCHF, 1)
	f.claimFrom(t, CCHF, 1)
	before := f.now(t)
	old := f.claim(t, 3)
	f.age(t, time.Second)
	c := ask(14)
	c.ClaimedBy, c.WorkerID, c.Lease = "another_pipeline", "worker 2", 2*leaseTime
	lease := f.claimAs(t, c)
	f.giveBack(t, f.claim(t, 1).AttemptID, false, 1) // holds nothing any more
	s := results(f.line(t, 1, lease.Entries[1].AccessionVersion, lease.AttemptID, "done", seqlease.NoIssues))
	s.ClaimedBy = c.ClaimedBy
	if err := f.submitResults(t, s); err != nil {
		t.Fatalf("accept: %v", err)
	}
	f.age(t, leaseTime)
	got := f.leases(t, 100)
	for i, lease := range []time.Duration{leaseTime, 2 * leaseTime}[:len(got)] {
		wantBetween(t, "claimed", got[i].ClaimedAt, before.Add(-leaseTime-time.Second), f.now(t).Add(-leaseTime))
		wantBetween(t, "lease end", got[i].Until, got[i].ClaimedAt.Add(lease), got[i].ClaimedAt.Add(lease))
		got[i].ClaimedAt, got[i].Until = time.Time{}, time.Time{}
	}
	held := slices.Delete(claimed(lease), 1, 2)
	want := []queue.HeldLease{
		{AttemptID: old.AttemptID, PipelineVersion: 1, ClaimedBy: worker, WorkerID: "worker 1", Ended: true, Entries: 3, Claimed: 3, First: versions[:3]},
		{AttemptID: lease.AttemptID, PipelineVersion: 1, ClaimedBy: c.ClaimedBy, WorkerID: c.WorkerID, Entries: 13, Claimed: 14, First: held[:10]},
	}
	wantSame(t, "leases", got, want)
}

func operatorLeasePages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 9)
	var ids []string
	for range 9 {
		ids = append(ids, f.claim(t, 1).AttemptID.String())
	}
	var listed []string
	all := f.leases(t, 2)
	for i, l := range all {
		listed = append(listed, l.AttemptID.String())
		if i > 0 && cmp.Or(all[i-1].ClaimedAt.Compare(l.ClaimedAt), cmp.Compare(listed[i-1], listed[i])) >= 0 {
			t.Errorf("lease %d isn't behind the one before", i)
		}
	}
	slices.Sort(ids)
	slices.Sort(listed)
	wantSame(t, "leases", listed, ids)
}

func operatorFree(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 5)
	lease := f.claim(t, 5)
	lines := f.lines(t, lease)
	mark := f.mark(t)
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: versions[1:3], Reason: "stuck"}, 2)
	if f.mark(t) == mark {
		t.Error("the mark is the same before and after entries were freed")
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 2, seqlease.InProcessing: 3})
	wantRefused(t, f.accept(t, lines[1:3]...), refused(2, versions[1], seqlease.RefusedLeaseLost), refused(3, versions[2], seqlease.RefusedLeaseLost))
	again := f.claim(t, suspects(5))
	wantSame(t, "claimed", claimed(again), versions[1:3])
	wantSame(t, "attempts", attempts(again), []int{2, 2})
	f.mustAccept(t, lines[0], lines[3])

	f.free(t, queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{lease.AttemptID}}, 1)
	f.free(t, queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{lease.AttemptID}}, 0)
	wantRefused(t, f.accept(t, lines[4]), refused(5, versions[4], seqlease.RefusedLeaseLost))
	failures := f.history(t, versions[1]).Failures
	if len(failures) != 1 {
		t.Fatalf("%d failures, want one: the refusal is of what wasn't held any more", len(failures))
	}
	wantSame(t, "failure", []any{failures[0].Kind, failures[0].Reason, failures[0].Counted, failures[0].AttemptID},
		[]any{queue.FailureFreed, "stuck", true, lease.AttemptID})
}

func operatorFreeConditions(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, cchf := f.submit(t, 8), f.submitTo(t, CCHF, 1)
	foreign := f.claimFrom(t, CCHF, 1)
	var leases []queue.Lease
	for i := range 4 {
		c := ask(2)
		c.WorkerID = fmt.Sprintf("worker %d", i/2)
		leases = append(leases, f.claimAs(t, c))
	}
	ids := func(l ...queue.Lease) []seqlease.AttemptID {
		var list []seqlease.AttemptID
		for _, lease := range l {
			list = append(list, lease.AttemptID)
		}
		return list
	}
	all := queue.FreeLeases{Organism: WestNile, AttemptIDs: ids(leases[0], leases[2]), WorkerID: "worker 1", Entries: versions[2:5]}
	f.free(t, all, 1) // versions[4], of the third lease
	f.wantStatus(t, versions[4], seqlease.Received)
	f.free(t, queue.FreeLeases{Organism: WestNile, AttemptIDs: ids(foreign), Entries: cchf}, 0)
	f.free(t, queue.FreeLeases{Organism: WestNile, WorkerID: "worker 0"}, 4)
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: []seqlease.AccessionVersion{}}, 0)
	f.free(t, queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{}}, 0)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 5, seqlease.InProcessing: 3})
}

func operatorFreeAgainstResult(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 8 {
		versions := f.submit(t, 3)
		lease := f.claim(t, 3)
		freed := make(chan int, 1)
		go func() {
			n, _, err := f.FreeLeases(t.Context(), queue.FreeLeases{Organism: WestNile, AttemptIDs: []seqlease.AttemptID{lease.AttemptID}}, 10)
			if err != nil {
				n = -1
			}
			freed <- n
		}()
		err := f.accept(t, f.lines(t, lease)...)
		n := <-freed
		if (err == nil) != (n == 0) || n == -1 {
			t.Errorf("round %d: the results were answered with %v and %d entries were freed", round, err, n)
		}
		if err != nil {
			again := f.claim(t, suspects(3))
			wantSame(t, "claimed", claimed(again), versions)
			f.mustAccept(t, f.lines(t, again)...)
		}
	}
}

func operatorFreeLarge(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 2300
	versions := f.submit(t, n)
	lease := f.claim(t, n)
	f.free(t, queue.FreeLeases{Organism: WestNile, Entries: versions[:n-1]}, n-1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: n - 1, seqlease.InProcessing: 1})
	f.mustAccept(t, f.line(t, 1, versions[n-1], lease.AttemptID, "the last", seqlease.NoIssues))
	wantSame(t, "claimed", len(f.claim(t, suspects(n)).Entries), n-1)
}

func operatorFailingWorkers(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 30)
	// The worker's fault it isn't.
	f.giveBackUndelivered(t, f.claim(t, 10).AttemptID, 10)
	polite := ask(7)
	polite.WorkerID = "worker that was told to stop"
	mustGiveBack(t, f, returned(f.claimAs(t, polite).AttemptID))
	var gs []queue.GiveBack
	for i, n := range []int{1, 5, 3} {
		c := ask(n)
		c.WorkerID = fmt.Sprintf("worker %d", i)
		g := returned(f.claimAs(t, c).AttemptID)
		g.Reason, g.CountsAsAttempt = fmt.Sprintf("reason %d", i), true
		gs = append(gs, g)
	}
	for _, g := range gs {
		mustGiveBack(t, f, g)
	}
	refusing := ask(1)
	refusing.WorkerID = "worker of broken results"
	broken := results()
	broken.Invalid = []seqlease.Refusal{{AccessionVersion: claimed(f.claimAs(t, refusing))[0], Line: 1, Reason: seqlease.RefusedInvalid, Detail: "not JSON"}}
	f.skip(t, broken)
	damaged := ask(2)
	damaged.WorkerID = "worker of the server's fault"
	lease := f.claimAs(t, damaged)
	mustGiveBack(t, f, queue.GiveBack{AttemptID: lease.AttemptID, Organism: WestNile, Entries: claimed(lease), CountsAsAttempt: true, Damaged: true})
	failing := func(since time.Duration, limit int) []string {
		t.Helper()
		list, err := f.FailingWorkers(t.Context(), WestNile, since, limit)
		if err != nil {
			t.Fatalf("failing workers: %v", err)
		}
		var said []string
		for _, w := range list {
			wantBetween(t, "last failure", w.LastAt, f.now(t).Add(-since), f.now(t))
			said = append(said, fmt.Sprintf("%s of %s: %d, %s %s", w.WorkerID, w.ClaimedBy, w.Failures, w.LastKind, w.LastReason))
		}
		return said
	}
	want := []string{
		"worker 1 of " + worker + ": 5, given-back reason 1", "worker 2 of " + worker + ": 3, given-back reason 2",
		"worker 0 of " + worker + ": 1, given-back reason 0", "worker of broken results of " + worker + ": 1, refused not JSON",
	}
	wantSame(t, "failing workers", failing(time.Hour, 10), want)
	wantSame(t, "the one that fails most", failing(time.Hour, 1), want[:1])
	f.age(t, 2*time.Hour)
	wantSame(t, "failing workers of late", failing(time.Hour, 10), nil)
}
