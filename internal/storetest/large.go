package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// largeCases check that lists of any length work: drivers bound the number of
// parameters of a statement at 32,766 or 65,535.
func largeCases() []testCase {
	return []testCase{
		{name: "B035_ManyEntriesFromSubmissionToRelease", needs: Large, check: largeLife},
		{name: "B035_ManyEntriesGivenBackAndDeleted", needs: Large, check: largeDelete},
		{name: "B035_SeventyThousandNamedEntries", check: largeNamed},
	}
}

// many is more than SQLite's bound.
const many = 33_000

// submitMany stores that many small entries.
func (f *fixture) submitMany(t *testing.T) []seqlease.AccessionVersion {
	t.Helper()
	if testing.Short() {
		t.Skip("so many entries take seconds")
	}
	u := f.upload(0)
	data := f.pack(WestNile, []byte(`{"metadata":{},"unalignedNucleotideSequences":{},"files":null}`))
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for range many {
			if !yield(submission.PackedEntry{SubmissionID: "sample", Data: data}, nil) {
				return
			}
		}
	}
	return f.submitUpload(t, u)
}

func largeLife(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submitMany(t)
	lease := f.claim(t, many)
	wantSame(t, "claimed", claimed(lease), versions)

	model := f.line(t, 0, seqlease.AccessionVersion{}, lease.AttemptID, "the same for all", seqlease.NoIssues)
	lines := make([]queue.Line, many)
	for i, av := range versions {
		lines[i] = model
		lines[i].AccessionVersion, lines[i].Number = av, i+1
	}
	f.mustAccept(t, lines...)
	f.mustAccept(t, lines...) // L6
	groups, err := f.GroupsOfEntries(t.Context(), versions)
	if err != nil {
		t.Fatalf("groups of entries: %v", err)
	}
	wantSame(t, "entries with a group", len(groups), many)

	f.wantApproved(t, "by name", approval(versions...), versions...)
	head, _ := f.released(t)
	wantSame(t, "released", head.Count, many)
}

func largeDelete(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submitMany(t)
	f.giveBack(t, f.claim(t, many).AttemptID, false, many)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: many})
	f.mustDelete(t, versions...)
	f.wantStatuses(t, nil)
}

func largeNamed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 70_000
	f.submit(t, 1)
	lease := f.claim(t, 1)
	missing := make([]seqlease.AccessionVersion, n)
	lines := make([]queue.Line, n)
	want := make([]seqlease.Refusal, n)
	model := f.line(t, 0, seqlease.AccessionVersion{}, lease.AttemptID, "of nothing", seqlease.NoIssues)
	for i := range missing {
		missing[i] = seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, int64(i)+1_000_000), Version: 1}
		lines[i] = model
		lines[i].AccessionVersion, lines[i].Number = missing[i], i+1
		want[i] = refused(i+1, missing[i], seqlease.RefusedNotFound)
	}
	_, err := f.Approve(t.Context(), approval(missing...))
	wantStateError(t, err, submission.StateError{Missing: missing})
	wantError(t, f.remove(t.Context(), missing), seqlease.ErrState)
	groups, err := f.GroupsOfEntries(t.Context(), missing)
	if err != nil {
		t.Fatalf("groups of entries: %v", err)
	}
	wantSame(t, "entries with a group", len(groups), 0)
	wantRefused(t, f.accept(t, lines...), want...)
	f.mustAccept(t, f.lines(t, lease)...)
}
