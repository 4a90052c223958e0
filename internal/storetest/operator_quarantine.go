package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// operatorQuarantineCases check what operators put in quarantine (L16).
func operatorQuarantineCases() []testCase {
	return []testCase{
		{name: "L16_QuarantineTakesWaitingAndHeld", check: operatorQuarantine},
		{name: "L16_QuarantineNeverReplacesAGoodResult", check: operatorQuarantineGood},
		{name: "L16_FailedResultsComeInPages", check: operatorFailedResults},
	}
}

// byOperator is why the fixtures' operator quarantines.
const byOperator = "known to crash the pipeline"

// putInQuarantine quarantines the selection and wants so many entries in it.
func (f *fixture) putInQuarantine(t *testing.T, s queue.Selection, want int) {
	t.Helper()
	verdict := queue.OperatorVerdict{By: operatorName, Reason: byOperator, Result: f.systemResult(t, byOperator)}
	wantSame(t, "entries quarantined", pages(t, "quarantine", func(after int64) (int, int64, error) {
		return f.PutInQuarantine(t.Context(), s, verdict, after, 500)
	}), want)
}

func (f *fixture) quarantineEntries(t *testing.T, entries []seqlease.AccessionVersion, want int) {
	t.Helper()
	f.putInQuarantine(t, queue.Selection{Organism: WestNile, Entries: entries}, want)
}

func operatorQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 6)
	held := f.claim(t, 2)
	f.age(t, leaseTime-time.Minute)
	ended := ask(2)
	ended.Lease = time.Minute - 10*time.Second
	f.claimAs(t, ended)
	f.age(t, ended.Lease)
	// Two are held, two are in an ended lease and two wait.
	f.quarantineEntries(t, []seqlease.AccessionVersion{versions[5], versions[3], versions[0]}, 3)
	f.quarantineEntries(t, []seqlease.AccessionVersion{versions[5], versions[3], versions[0]}, 0)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 3, seqlease.InProcessing: 1, seqlease.Received: 2})
	wantRefused(t, f.accept(t, f.lines(t, held)...), leaseLost(versions[:1])...)
	f.mustAccept(t, f.lines(t, held)[1])
	list := f.quarantined(t)
	wantSame(t, "quarantined", len(list), 3)
	for _, q := range list {
		wantSame(t, "verdict", []string{q.By, q.Reason}, []string{operatorName, byOperator})
		wantSame(t, "what the submitter reads", f.failedDocument(t, q.AccessionVersion).Errors[0].Message, byOperator)
	}
	rest := []seqlease.AccessionVersion{versions[2], versions[4]}
	got := slices.Concat(claimed(f.claim(t, 100)), claimed(f.claim(t, 100)))
	slices.SortFunc(got, seqlease.AccessionVersion.Compare)
	wantSame(t, "claimed of the rest", got, rest)
}

func operatorQuarantineGood(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	f.putInQuarantine(t, queue.Selection{Organism: WestNile}, 0) // neither waits
	f.reprocess(t, queue.Selection{Organism: WestNile}, 2)
	f.claim(t, 1)
	f.putInQuarantine(t, queue.Selection{Organism: WestNile}, 2)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
	f.wantReleased(t, "result of "+versions[0].String(), "result of "+versions[1].String())
}

func operatorFailedResults(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors, seqlease.NoIssues, seqlease.HasErrors, seqlease.HasWarnings, seqlease.HasErrors, seqlease.HasErrors)
	f.mustEdit(t, versions[5], submitted(3)) // its result isn't the present one's
	var got []seqlease.AccessionVersion
	for after := int64(0); ; {
		page, err := f.FailedResults(t.Context(), WestNile, 1, after, 2)
		if err != nil {
			t.Fatalf("failed results: %v", err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			got = append(got, r.AccessionVersion)
		}
		after = page[len(page)-1].EntryID
	}
	wantSame(t, "entries with errors", got, []seqlease.AccessionVersion{versions[0], versions[2], versions[4]})
}

// historyQuarantine compares the history, which submitters read, with the
// operators' list.
func historyQuarantine(t *testing.T, h Harness) {
	f := newFixture(t, h)
	before := f.now(t)
	spoiled := f.spoil(t, 1)
	f.quarantineSpent(t)
	versions := slices.Concat(spoiled, f.submit(t, 2))
	f.quarantineEntries(t, versions[1:2], 1)
	for i, want := range []queue.Quarantined{
		{Attempts: 5, HandOuts: 5, Reason: usedUp}, {By: operatorName, Reason: byOperator},
	} {
		list := f.history(t, versions[i]).Quarantine
		if len(list) != 1 {
			t.Fatalf("%s is in quarantine %d times, want once", versions[i], len(list))
		}
		got := list[0]
		wantBetween(t, "quarantined", got.At, before, f.now(t))
		got.EntryID, got.At = 0, time.Time{}
		want.AccessionVersion, want.PipelineVersion = versions[i], 1
		wantSame(t, "quarantine", got, want)
	}
	wantSame(t, "quarantine of an entry that waits", f.history(t, versions[2]).Quarantine, nil)
	f.requeue(t, queue.Selection{Organism: WestNile, All: true}, 2)
	wantSame(t, "quarantine of a requeued entry", f.history(t, versions[0]).Quarantine, nil)
}
