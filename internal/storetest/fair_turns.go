package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// fairTurnCases check that a group has as many turns as it has entries waiting: none
// for what was taken out or never came, and one for each that waits anew (L17).
func fairTurnCases() []testCase {
	return []testCase{
		{name: "L17_DeletedEntriesCostNoTurns", check: fairDeleted},
		{name: "L17_QuarantinedEntriesCostNoTurns", check: fairQuarantined},
		{name: "L17_DeletedReprocessedEntriesCostNoTurns", check: fairDeletedBulk},
		{name: "L17_AbortedUploadCostsNoTurns", check: fairAborted},
		{name: "L17_LateUploadHoldsUpNobodyAndIsNotStarved", check: fairLate},
		{name: "L17_RequeuedInBulkTakeTurns", check: fairRequeuedBulk},
		{name: "L17_EditedInBulkTakeTurns", check: fairEditedBulk},
		{name: "L17_EditedEntryTakesItsGroupsNextTurn", check: fairEditedTurn},
		{name: "L17_ReconciledInBulkTakeTurns", needs: LoseTickets, check: fairReconciledBulk},
	}
}

// manyWaiting is more than a few claims of 100, and more than a part of an upload.
const manyWaiting = 3000

// twoWaiting has the fixture's group and another wait with many entries each, and
// returns those of the first: two thirds came in one upload, the rest in small ones.
func (f *fixture) twoWaiting(t *testing.T) []seqlease.AccessionVersion {
	t.Helper()
	f.submitAs(t, f.newGroup(t, "A clinic", submitter), manyWaiting)
	entries := f.submitAs(t, f.group, manyWaiting*2/3)
	for range 5 {
		entries = append(entries, f.submitAs(t, f.group, manyWaiting/15)...)
	}
	return entries
}

func fairDeleted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for part := range slices.Chunk(f.twoWaiting(t), 1000) {
		f.mustDelete(t, part...)
	}
	f.wantWithin(t, "after those before were deleted", 2, 100, f.submitAs(t, f.group, 10))
	wrong := f.submitAs(t, f.group, manyWaiting)
	f.claim(t, 100)
	f.mustDelete(t, wrong[manyWaiting/2:]...) // those before go on waiting
	lease := f.claim(t, 100)
	wantShare(t, "after half of those that wait were deleted", lease, f.group, 45, 55)
}

func fairQuarantined(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for part := range slices.Chunk(f.twoWaiting(t), 1000) {
		f.quarantineEntries(t, part, len(part))
	}
	f.wantWithin(t, "after those before went to quarantine", 2, 100, f.submitAs(t, f.group, 10))
}

// reprocessAs has the group's entries wait as bulk work and returns them.
func (f *fixture) reprocessAs(t *testing.T, g seqlease.Group, n int) []seqlease.AccessionVersion {
	t.Helper()
	entries := f.submitAs(t, g, n)
	lease := f.claim(t, n)
	f.mustAccept(t, f.lines(t, lease)...)
	if _, _, err := f.Reprocess(t.Context(), queue.Selection{Organism: WestNile, Entries: entries}, 0, n+1); err != nil {
		t.Fatalf("reprocess %d entries: %v", n, err)
	}
	return entries
}

func fairDeletedBulk(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	f.mustDelete(t, f.reprocessAs(t, f.group, 200)...)
	f.reprocessAs(t, second, 200)
	f.mustDelete(t, f.reprocessAs(t, f.group, 200)...)
	f.wantWithin(t, "after those before were deleted", 2, 10, f.reprocessAs(t, f.group, 5))
}

// slowly is an upload by the group of n entries, before the last of which last is called.
func (f *fixture) slowly(g seqlease.Group, n int, last func() error) submission.Upload {
	u := f.upload(0)
	u.GroupID = g.GroupID
	entry := submission.PackedEntry{SubmissionID: "sample", Data: f.pack(WestNile, []byte(`{"metadata":{},"unalignedNucleotideSequences":{},"files":null}`))}
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for range n - 1 {
			if !yield(entry, nil) {
				return
			}
		}
		yield(entry, last())
	}
	return u
}

func fairAborted(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submitAs(t, f.newGroup(t, "A clinic", submitter), manyWaiting)
	aborted := errors.New("the client is gone")
	if _, err := f.Submit(t.Context(), f.slowly(f.group, manyWaiting+1, func() error { return aborted })); !errors.Is(err, aborted) {
		t.Fatalf("submit: %v, want that %v", err, aborted)
	}
	f.wantWithin(t, "after the group's upload came to nothing", 2, 100, f.submitAs(t, f.group, 10))
}

func fairLate(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	var small []seqlease.AccessionVersion
	f.submitUpload(t, f.slowly(f.group, manyWaiting+1, func() error {
		small = f.submitAs(t, second, 10)
		return nil
	}))
	lease := f.claim(t, 100)
	wantShare(t, "what was submitted while the other's upload arrived", lease, second, 10, 10)
	wantSame(t, "entries of the second group", len(small), 10)
	wantShare(t, "what arrived late", lease, f.group, 90, 90)

	f = newFixture(t, h)
	second = f.newGroup(t, "A clinic", submitter)
	f.submitAs(t, second, manyWaiting)
	f.claim(t, 1000)
	f.wantWithin(t, "arrived late", 2, 100, f.submitUpload(t, f.slowly(f.group, 10, func() error {
		f.submitAs(t, second, manyWaiting)
		f.claim(t, 1000)
		return nil
	})))
}

func fairRequeuedBulk(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	for part := range slices.Chunk(f.submitAs(t, f.group, manyWaiting), 1000) {
		f.quarantineEntries(t, part, len(part))
	}
	waiting := f.submitAs(t, second, 10)
	for after, again := int64(0), true; again; again = after > 0 {
		var err error
		if _, after, err = f.Requeue(t.Context(), queue.Selection{Organism: WestNile, All: true}, after, 1000); err != nil {
			t.Fatalf("requeue: %v", err)
		}
	}
	waiting = append(waiting, f.submitAs(t, second, 10)...)
	f.wantWithin(t, "after many others were requeued", 1, 100, waiting)
	wantShare(t, "those requeued", f.claim(t, 100), f.group, 100, 100)
	lone := f.submitAs(t, second, 1)
	f.quarantineEntries(t, lone, 1)
	f.requeue(t, queue.Selection{Organism: WestNile}, 1)
	f.wantWithin(t, "requeued alone", 1, 6, lone)
}

func fairEditedBulk(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, 60)...)
	second := f.newGroup(t, "A clinic", submitter)
	waiting := f.submitAs(t, second, 10)
	for i, av := range done {
		f.mustEdit(t, av, submitted(i))
	}
	f.wantWithin(t, "after many others were edited", 1, 22, append(waiting, f.submitAs(t, second, 1)...))
}

func fairEditedTurn(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, seqlease.NoIssues)
	f.submitAs(t, f.newGroup(t, "A clinic", submitter), 1000)
	f.submitAs(t, f.group, 20)
	f.mustEdit(t, done[0], submitted(5))
	f.wantWithin(t, "beside 20 of the group", 1, 43, done)
}

func fairReconciledBulk(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	lost := f.submitAs(t, f.group, 60)
	for _, av := range lost {
		f.h.Lose(t, f.Store, av)
	}
	waiting := f.submitAs(t, second, 10)
	f.reconcile(t, 100, len(lost))
	f.wantWithin(t, "after others were reconciled", 1, 24, append(waiting, f.submitAs(t, second, 1)...))
	wantShare(t, "those reconciled", f.claim(t, 20), f.group, 20, 20)
}
