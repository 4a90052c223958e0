package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// reprocessCases check entries that are processed again under the same version (V9).
func reprocessCases() []testCase {
	return []testCase{
		{name: "V9_OldResultIsSeenUntilTheNewOneIsAccepted", check: reprocessV9Seen},
		{name: "V9_FailingToReprocessKeepsTheOldResult", check: reprocessV9Failing},
		{name: "V9_ReprocessingTwiceHandsOutOnce", check: reprocessV9Twice},
		{name: "V9_RepetitionOfTheOldResultIsHarmlessUntilReplaced", check: reprocessV9Repeated},
		{name: "V9_QuarantinedEntryCanBeReprocessed", check: reprocessV9Quarantined},
		{name: "V9_RequeueEndsTheLeaseThatReprocesses", check: reprocessV9Requeued},
		{name: "V9_NewResultMayHaveErrors", check: reprocessV9Errors},
		{name: "V9_ReleasedEntryShowsTheNewResult", check: reprocessV9Released},
		{name: "L10_EditAndDeleteEndAnotherLease", check: reprocessL10},
	}
}

func reprocessV9Seen(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors, seqlease.NoIssues)
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions[:1]}, 1)
	seen := func(when string, want seqlease.ProcessingResult) {
		t.Helper()
		listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
		wantSame(t, "status "+when, listed[0].Status, seqlease.Processed)
		wantSame(t, "result "+when, listed[0].Result, want)
	}
	seen("while it waits", seqlease.HasErrors)
	lease := f.claim(t, 10)
	wantSame(t, "claimed", claimed(lease), versions[:1])
	wantSame(t, "attempts", attempts(lease), []int{1})
	seen("while it is held", seqlease.HasErrors)
	f.age(t, leaseTime)
	seen("when the lease has ended", seqlease.HasErrors)
	again := f.claim(t, 1)
	wantSame(t, "attempts", attempts(again), []int{2})
	wantRefused(t, f.accept(t, f.lines(t, lease)...), leaseLost(versions[:1])...)
	f.mustAccept(t, f.lines(t, again)...)
	seen("when the new result is there", seqlease.NoIssues)
	wantSame(t, "claimed", claimed(f.claim(t, 10)), nil)
}

func reprocessV9Failing(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.spoilAgain(t, versions)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1})
	f.sweep(t)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1})
	f.quarantineSpent(t)
	f.wantReleased(t, "result of "+versions[0].String())
}

func reprocessV9Twice(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.NoIssues)
	again := func() {
		t.Helper()
		pages(t, "reprocess", func(after int64) (int, int64, error) {
			return f.Reprocess(t.Context(), queue.Selection{Organism: WestNile}, after, 10)
		})
	}
	again()
	again()
	lease := f.claim(t, 1)
	again() // one is held, one waits
	rest := f.claim(t, 10)
	wantSame(t, "claimed", append(claimed(lease), claimed(rest)...), versions)
	f.mustAccept(t, f.lines(t, lease)...)
	f.mustAccept(t, f.lines(t, rest)...)
	wantSame(t, "claimed once all is there", claimed(f.claim(t, 10)), nil)
}

func reprocessV9Repeated(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	old := f.lines(t, f.claim(t, 1))
	f.mustAccept(t, old...)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	f.mustAccept(t, old...)
	lease := f.claim(t, 1)
	f.mustAccept(t, old...)
	wantSame(t, "held in spite of the repetition", claimed(f.claim(t, 1)), nil)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "better", seqlease.NoIssues))
	wantRefused(t, f.accept(t, old...), leaseLost(versions)...)
	f.wantReleased(t, "better")
}

func reprocessV9Quarantined(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 1)
	f.quarantineSpent(t)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	wantSame(t, "what the submitter reads meanwhile", f.failedDocument(t, versions[0]).Errors[0].Message, usedUp)
	lease := f.claim(t, 1)
	wantSame(t, "attempts", attempts(lease), []int{1})
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1})
	f.mustAccept(t, f.lines(t, lease)...)
	wantSame(t, "quarantined", f.quarantined(t), nil)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1})
}

// A requeued entry waits anew without attempts, whoever was working on it.
func reprocessV9Requeued(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 2)
	f.quarantineSpent(t)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 2)
	old := f.claim(t, 2)
	f.requeue(t, queue.Selection{Organism: WestNile, Entries: versions[:1]}, 1)
	renewed := f.renew(t, old.AttemptID, leaseTime, leaseTime)
	wantSame(t, "still held", renewed.Held, 1)
	wantSame(t, "lost", renewed.Lost, versions[:1])
	wantRefused(t, f.accept(t, f.lines(t, old)...), leaseLost(versions[:1])...)
	again := f.claim(t, 2)
	wantSame(t, "claimed", claimed(again), versions[:1])
	wantSame(t, "attempts", attempts(again), []int{1})
	f.mustAccept(t, f.lines(t, again)...)
	f.mustAccept(t, f.lines(t, old)[1:]...)
	wantSame(t, "quarantined", f.quarantined(t), nil)
}

func reprocessV9Errors(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	lease := f.claim(t, 1)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "worse", seqlease.HasErrors))
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.HasErrors: 1})
}

func reprocessV9Released(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	before, _ := f.released(t)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	lease := f.claim(t, 1)
	wantSame(t, "claimed", claimed(lease), versions)
	meanwhile, _ := f.released(t)
	wantSame(t, "mark of what is released", meanwhile.Mark, before.Mark)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "better", seqlease.NoIssues))
	after, _ := f.released(t)
	if after.Mark <= before.Mark {
		t.Errorf("the mark of what is released is %q before and %q after the new result", before.Mark, after.Mark)
	}
	f.wantReleased(t, "better")
}

// L10: a lease that reprocesses an entry ends with its edit and its deletion.
func reprocessL10(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions, lease := f.held(t, 3)
	lines := f.lines(t, lease)
	f.mustEdit(t, versions[0], submitted(8))
	f.mustDelete(t, versions[1])
	wantRefused(t, f.accept(t, lines...),
		refused(1, versions[0], seqlease.RefusedEdited), refused(2, versions[1], seqlease.RefusedNotFound))
	again := f.claim(t, 10)
	wantSame(t, "claimed", claimed(again), versions[:1])
	wantSame(t, "data", f.data(t, again.Entries[0]), string(submitted(8)))
	wantRefused(t, f.accept(t, lines[0]), refused(1, versions[0], seqlease.RefusedEdited))
	f.mustAccept(t, lines[2])
	f.mustAccept(t, f.lines(t, again)...)
}
