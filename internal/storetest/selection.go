package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// selectionCases check which entries an operator's conditions take (L16).
func selectionCases() []testCase {
	return []testCase{
		{name: "L16_RequeueTakesWhatEveryConditionTakes", check: selectionRequeue},
		{name: "L16_QuarantineTakesWhatEveryConditionTakes", check: selectionQuarantine},
		{name: "V9_ReprocessTakesWhatEveryConditionTakes", check: selectionReprocess},
		{name: "L16_SelectionsGoPageByPage", check: selectionPages},
		{name: "B035_SelectionsOfManyNamedEntries", check: selectionB035},
		{name: "L16_RequeueAgainstClaimsLosesNothing", check: selectionAgainstClaims},
	}
}

// taken counts what an operator's action takes, page by page of the size.
type taken func(s queue.Selection, page int) int

func (f *fixture) requeueing(t *testing.T) taken {
	return func(s queue.Selection, page int) int {
		return pages(t, "requeue", func(after int64) (int, int64, error) { return f.Requeue(t.Context(), s, after, page) })
	}
}

func (f *fixture) reprocessing(t *testing.T) taken {
	return func(s queue.Selection, page int) int {
		return pages(t, "reprocess", func(after int64) (int, int64, error) { return f.Reprocess(t.Context(), s, after, page) })
	}
}

func (f *fixture) quarantining(t *testing.T) taken {
	verdict := queue.OperatorVerdict{By: operatorName, Reason: byOperator, Result: f.systemResult(t, byOperator)}
	return func(s queue.Selection, page int) int {
		return pages(t, "quarantine", func(after int64) (int, int64, error) {
			return f.PutInQuarantine(t.Context(), s, verdict, after, page)
		})
	}
}

// failBy claims n entries for each worker, and has two of three
// give theirs back with a reason, at the cost of an attempt.
func (f *fixture) failBy(t *testing.T, n int, worker1, worker2 string) (first, second []seqlease.AccessionVersion) {
	t.Helper()
	var leases []queue.Lease
	for _, workerID := range []string{"worker 1", "worker 2"} {
		c := ask(n)
		c.WorkerID = workerID
		leases = append(leases, f.claimAs(t, c))
	}
	f.claim(t, n) // held by worker 1, without any failure
	for i, reason := range []string{worker1, worker2} {
		g := returned(leases[i].AttemptID)
		g.Reason, g.CountsAsAttempt = reason, true
		if returned, err := f.GiveBack(t.Context(), g); err != nil || returned != n {
			t.Fatalf("give back: %d entries, %v", returned, err)
		}
	}
	return claimed(leases[0]), claimed(leases[1])
}

func selectionQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submitTo(t, CCHF, 2)
	f.submit(t, 9)
	crashed, slow := f.failBy(t, 3, "100% crashed in _align", "too slow")
	take := f.quarantining(t)
	for _, none := range []queue.Selection{
		{Organism: WestNile, ErrorContains: "Crashed"}, // case counts
		{Organism: WestNile, ErrorContains: "1___ crashed"},
		{Organism: WestNile, ErrorContains: "%slow"},
		{Organism: WestNile, WorkerID: "worker"},
		{Organism: WestNile, Entries: slow, ErrorContains: "crashed"},
		{Organism: WestNile, Entries: []seqlease.AccessionVersion{}},
		{Organism: WestNile, PipelineVersion: 2},
		{Organism: CCHF, Entries: crashed},
		{Organism: WestNile, SubmittedTo: f.now(t).Add(-time.Hour)},
		{Organism: WestNile, SubmittedFrom: f.now(t).Add(time.Hour)},
	} {
		wantSame(t, "taken", take(none, 2), 0)
	}
	wantSame(t, "by reason and entry", take(queue.Selection{Organism: WestNile, ErrorContains: "100% crashed in _", Entries: crashed[:1]}, 2), 1)
	wantSame(t, "by worker of a failure or lease", take(queue.Selection{Organism: WestNile, WorkerID: "worker 1"}, 2), 5)
	wantSame(t, "all", take(queue.Selection{Organism: WestNile, All: true, PipelineVersion: 1}, 2), 3)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 9})
	wantSame(t, "claimed of "+string(CCHF), len(f.claimFrom(t, CCHF, 10).Entries), 2)
}

func selectionRequeue(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 6)
	first, second := f.failBy(t, 2, "crashed", "too slow")
	put := func(s queue.Selection, reason string, want int) {
		t.Helper()
		verdict := queue.OperatorVerdict{By: operatorName, Reason: reason, Result: f.systemResult(t, reason)}
		wantSame(t, "quarantined", pages(t, "quarantine", func(after int64) (int, int64, error) {
			return f.PutInQuarantine(t.Context(), s, verdict, after, 3)
		}), want)
	}
	put(queue.Selection{Organism: WestNile, Entries: first}, "bad_data 100%", 2)
	put(queue.Selection{Organism: WestNile, Entries: second}, "Bad luck", 2)
	take := f.requeueing(t)
	for _, none := range []queue.Selection{
		{Organism: WestNile, ErrorContains: "bad luck"},
		{Organism: WestNile, ErrorContains: "bad%data"},
		{Organism: WestNile, ErrorContains: "Bad", Entries: first},
		{Organism: WestNile, WorkerID: "worker 3"},
		{Organism: WestNile, PipelineVersion: 2},
		{Organism: CCHF},
		{Organism: WestNile, Entries: []seqlease.AccessionVersion{}},
		{Organism: WestNile, SubmittedTo: f.now(t).Add(-time.Hour)},
	} {
		wantSame(t, "requeued", take(none, 2), 0)
	}
	wantSame(t, "by worker", take(queue.Selection{Organism: WestNile, WorkerID: "worker 1", ErrorContains: "data 100%"}, 1), 2)
	wantSame(t, "by reason", take(queue.Selection{Organism: WestNile, ErrorContains: "Bad", Entries: second[:1]}, 1), 1)
	wantSame(t, "the rest", take(queue.Selection{Organism: WestNile, All: true}, 1), 1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 4, seqlease.InProcessing: 2})
	wantSame(t, "claimed", len(f.claim(t, 10).Entries), 4) // with 0 attempts all of them
}

func selectionReprocess(t *testing.T, h Harness) {
	f := newFixture(t, h)
	old := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	f.age(t, 48*time.Hour)
	between := f.now(t).Add(-24 * time.Hour)
	young := f.process(t, seqlease.HasWarnings, seqlease.NoIssues)
	waiting := f.submit(t, 1)
	take := f.reprocessing(t)
	for _, none := range []queue.Selection{
		{Organism: CCHF},
		{Organism: WestNile, Entries: waiting},
		{Organism: WestNile, Entries: young, SubmittedTo: between},
		{Organism: WestNile, Entries: []seqlease.AccessionVersion{}},
	} {
		wantSame(t, "reprocessed", take(none, 2), 0)
	}
	mark := f.mark(t)
	wantSame(t, "submitted before", take(queue.Selection{Organism: WestNile, SubmittedTo: between}, 1), 2)
	if f.mark(t) == mark {
		t.Error("the mark is the same before and after reprocessing")
	}
	wantSame(t, "submitted since", take(queue.Selection{Organism: WestNile, SubmittedFrom: between, Entries: young[1:]}, 1), 1)
	lease := f.claim(t, 10)
	wantOnce(t, counted(lease), append(append(waiting, old...), young[1]))
	wantSame(t, "what a person just submitted goes first", claimed(lease)[:1], waiting) // L17
}

func selectionPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 23
	versions := f.submit(t, n)
	for _, page := range []int{1, 7, 1000} {
		wantSame(t, "quarantined", f.quarantining(t)(queue.Selection{Organism: WestNile}, page), n)
		var listed []seqlease.AccessionVersion
		for after := int64(0); ; {
			list, err := f.Quarantined(t.Context(), WestNile, after, page)
			if err != nil {
				t.Fatalf("quarantined: %v", err)
			}
			if len(list) == 0 {
				break
			}
			for _, q := range list {
				listed = append(listed, q.AccessionVersion)
			}
			after = list[len(list)-1].EntryID
		}
		wantSame(t, "listed", listed, versions)
		wantSame(t, "requeued", f.requeueing(t)(queue.Selection{Organism: WestNile}, page), n)
	}
	wantSame(t, "claimed", len(f.claim(t, 100).Entries), n)
}

func selectionB035(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	for _, n := range []int{1, 32_767, 65_536} {
		named := make([]seqlease.AccessionVersion, n)
		for i := range named {
			named[i] = seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, int64(i)+1_000_000), Version: 1}
		}
		named[n-1] = versions[1]
		s := queue.Selection{Organism: WestNile, Entries: named}
		wantSame(t, "quarantined", f.quarantining(t)(s, 1000), 1)
		wantSame(t, "reprocessed", f.reprocessing(t)(s, 1000), 1)
		wantSame(t, "quarantined", f.quarantining(t)(s, 1000), 1)
		wantSame(t, "requeued", f.requeueing(t)(s, 1000), 1)
		lease := f.claim(t, 2)
		wantSame(t, "claimed", len(lease.Entries), 2)
		f.free(t, queue.FreeLeases{Organism: WestNile, Entries: named}, 1)
		f.giveBack(t, lease.AttemptID, false, 1)
		f.quarantineEntries(t, versions[1:], 1) // with 0 attempts again
		f.requeue(t, s, 1)
	}
}

// selectionAgainstClaims quarantines and requeues everything while workers claim
// and submit results.
func selectionAgainstClaims(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 120
	f.submit(t, n)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			lease, err := f.Claim(t.Context(), ask(7))
			if errors.Is(err, seqlease.ErrBusy) {
				continue // what it took went to quarantine before it was read, again and again
			}
			if err != nil {
				t.Errorf("claim: %v", err)
				return
			}
			s := results(f.lines(t, lease)...)
			s.Skip = true
			if _, err := f.AcceptResults(t.Context(), s); err != nil {
				t.Errorf("accept: %v", err)
				return
			}
		}
	}()
	for range 6 {
		f.quarantining(t)(queue.Selection{Organism: WestNile}, 10)
		f.requeueing(t)(queue.Selection{Organism: WestNile}, 10)
	}
	close(stop)
	<-done
	for range n {
		lease := f.claim(t, 100)
		if len(lease.Entries) == 0 {
			break
		}
		f.mustAccept(t, f.lines(t, lease)...)
	}
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: n})
	wantSame(t, "quarantined", f.quarantined(t), nil)
}
