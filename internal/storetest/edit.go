package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func editCases() []testCase {
	return []testCase{
		{name: "L10_EditedEntryIsClaimableWithAttemptOne", check: editL10Claimable},
		{name: "L10_ResultOfTheOldRevisionIsNotShown", check: editL10OldResultHidden},
		{name: "L10_ResultOfTheOldRevisionIsRefused", check: editL10OldResultRefused},
		{name: "L10_EditOnlyWhenProcessed", check: editL10OnlyProcessed},
		{name: "L10_EditAgainstApproveExactlyOneWins", check: editL10AgainstApprove},
	}
}

func (f *fixture) edit(t *testing.T, av seqlease.AccessionVersion, data []byte) error {
	t.Helper()
	return f.Edit(t.Context(), submission.Edit{Organism: WestNile, AccessionVersion: av, Data: data})
}

func (f *fixture) mustEdit(t *testing.T, av seqlease.AccessionVersion, data []byte) {
	t.Helper()
	if err := f.edit(t, av, data); err != nil {
		t.Fatalf("edit %s: %v", av, err)
	}
}

func editL10Claimable(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	f.claim(t, 3)
	f.age(t, leaseTime)
	f.mustAccept(t, f.lines(t, f.claim(t, suspects(3)))...) // in the second attempt
	f.mustEdit(t, versions[1], submitted(77))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2, seqlease.Received: 1})

	lease := f.claim(t, 10)
	wantSame(t, "claimed after the edit", claimed(lease), versions[1:2])
	wantSame(t, "attempts", attempts(lease), []int{1})
	wantSame(t, "data", f.data(t, lease.Entries[0]), string(submitted(77)))
	wantSame(t, "submission id", lease.Entries[0].SubmissionID, "sample-1")
	f.mustAccept(t, f.lines(t, lease)...)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 3})
}

func editL10OldResultHidden(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors)
	f.mustEdit(t, versions[0], submitted(1))
	listed, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "status", listed[0].Status, seqlease.Received)
	wantSame(t, "result", listed[0].Result, seqlease.NoIssues)
	wantSame(t, "result counts", present(counts.Results), nil)
	wantSame(t, "approved", f.approveAll(t), nil)
	lease := f.claim(t, 1)
	wantSame(t, "approved while the edited entry is in processing", f.approveAll(t), nil)
	f.mustAccept(t, f.lines(t, lease)...)
	wantSame(t, "approved after the new result", f.approveAll(t), versions)
}

func editL10OldResultRefused(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	lines := f.lines(t, f.claim(t, 1))
	f.mustAccept(t, lines...)
	f.mustEdit(t, versions[0], submitted(1))
	edited := refused(1, versions[0], seqlease.RefusedEdited)

	wantRefused(t, f.accept(t, lines...), edited)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 1})
	again := f.claim(t, 1)
	wantRefused(t, f.accept(t, lines...), edited)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1})
	f.mustAccept(t, f.line(t, 1, versions[0], again.AttemptID, "of the edited data", seqlease.NoIssues))
	wantRefused(t, f.accept(t, lines...), edited)
	f.wantReleased(t, "of the edited data")
}

func editL10OnlyProcessed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	released := f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	inProcessing := f.submit(t, 1)
	f.claim(t, 1)
	received := f.submit(t, 1)
	foreign := f.submitTo(t, CCHF, 1)
	missing := seqlease.AccessionVersion{Accession: released[0].Accession, Version: 2}
	mark := f.mark(t)
	for name, av := range map[string]seqlease.AccessionVersion{
		"released": released[0], "in processing": inProcessing[0], "received": received[0],
		"of another organism": foreign[0], "missing": missing,
	} {
		if err := f.edit(t, av, submitted(9)); err == nil {
			t.Errorf("an entry that is %s was edited", name)
		} else {
			wantError(t, err, seqlease.ErrState)
		}
	}
	wantSame(t, "mark", f.mark(t), mark)
	wantSame(t, "data", f.data(t, f.claim(t, 10).Entries[0]), string(submitted(0)))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.ApprovedForRelease: 1, seqlease.InProcessing: 2})
}

func editL10AgainstApprove(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		versions := f.process(t, seqlease.NoIssues)
		edited := make(chan error, 1)
		go func() {
			edited <- f.Edit(t.Context(), submission.Edit{Organism: WestNile, AccessionVersion: versions[0], Data: submitted(round)})
		}()
		approved := f.approveAll(t)
		if err := <-edited; (err == nil) == (len(approved) == 1) {
			t.Errorf("round %d: the edit answered %v and %v was approved", round, err, approved)
		}
		want := seqlease.Received
		if len(approved) == 1 {
			want = seqlease.ApprovedForRelease
		}
		f.wantStatus(t, versions[0], want)
		if lease := f.claim(t, 1); len(lease.Entries) > 0 { // leave nothing for the next round
			f.mustAccept(t, f.lines(t, lease)...)
			f.approveAll(t)
		}
	}
}
