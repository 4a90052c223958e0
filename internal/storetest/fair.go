package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// fairCases check that no group makes another wait for more than its share (L17).
func fairCases() []testCase {
	return []testCase{
		{name: "L17_TenEntriesBehindAHundredThousandOfAnotherGroup", needs: Large, check: fairHundredThousand},
		{name: "L17_TwoGroupsShare", check: fairTwoShare},
		{name: "L17_OneEntryBehindFiveBulkGroups", check: fairOneBehindFive},
		{name: "L17_EditedAndRequeuedEntriesOfAGroupWithNothingWaitingGoNext", check: fairEditedNext},
		{name: "L17_FairAfterEverythingWasDrained", check: fairAfterDrain},
		{name: "L17_FreshGoBeforeReprocessed", check: fairBeforeBulk},
		{name: "L17_GivenBackGoFirst", check: fairGivenBack},
		{name: "L17_OwnUploadsKeepTheirOrder", check: fairOwnOrder},
		{name: "L17_LateEntriesOfTheOtherServerGetTheirShare", needs: SecondStore, check: fairOtherServer},
	}
}

// submitAs stores n small entries of the group.
func (f *fixture) submitAs(t *testing.T, g seqlease.Group, n int) []seqlease.AccessionVersion {
	t.Helper()
	u := f.upload(0)
	u.GroupID = g.GroupID
	data := f.pack(WestNile, []byte(`{"metadata":{},"unalignedNucleotideSequences":{},"files":null}`))
	u.Entries = func(yield func(submission.PackedEntry, error) bool) {
		for range n {
			if !yield(submission.PackedEntry{SubmissionID: "sample", Data: data}, nil) {
				return
			}
		}
	}
	return f.submitUpload(t, u)
}

// wantWithin checks that the entries are all in the next claims of n.
func (f *fixture) wantWithin(t *testing.T, when string, claims, n int, versions []seqlease.AccessionVersion) {
	t.Helper()
	seen := 0
	for range claims {
		for _, av := range claimed(f.claim(t, n)) {
			if slices.Contains(versions, av) {
				seen++
			}
		}
	}
	wantSame(t, fmt.Sprintf("entries within the next %d claims of %d %s", claims, n, when), seen, len(versions))
}

func fairHundredThousand(t *testing.T, h Harness) {
	if testing.Short() {
		t.Skip("so many entries take seconds")
	}
	f := newFixture(t, h)
	small := f.newGroup(t, "A clinic", submitter)
	f.submitAs(t, f.group, 100_000)
	f.wantWithin(t, "before any other", 2, 100, f.submitAs(t, small, 10))
	for range 20 {
		wantSame(t, "entries of a large claim", len(f.claim(t, 1000).Entries), 1000)
	}
	f.wantWithin(t, "while the drain is under way", 2, 100, f.submitAs(t, small, 10))
	third := f.newGroup(t, "Another clinic", submitter)
	f.wantWithin(t, "of a group that is there for the first time", 2, 100, f.submitAs(t, third, 10))
	f.submitAs(t, f.group, 1000) // more of the same delays nobody else
	f.wantWithin(t, "after still more of the large group", 2, 100, f.submitAs(t, small, 10))
	if _, lacking := h.Lacks[SecondStore]; lacking {
		return
	}
	other := f.second(t)
	f.wantWithin(t, "through another server", 2, 100, other.submitAs(t, small, 10))
	other.wantWithin(t, "claimed through another server", 2, 100, f.submitAs(t, small, 10))
}

// byGroup counts the entries of a lease by group.
func byGroup(l queue.Lease) map[int64]int {
	counts := map[int64]int{}
	for _, e := range l.Entries {
		counts[e.GroupID]++
	}
	return counts
}

// wantShare checks that the group has from least to most of the entries of a lease.
func wantShare(t *testing.T, what string, l queue.Lease, g seqlease.Group, least, most int) {
	t.Helper()
	if n := byGroup(l)[g.GroupID]; n < least || n > most {
		t.Errorf("%s: of %d entries %d are of group %d, want %d to %d", what, len(l.Entries), n, g.GroupID, least, most)
	}
}

func fairTwoShare(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	f.submitAs(t, f.group, 1000)
	f.claim(t, 200)
	f.submitAs(t, second, 500)
	for range 5 {
		wantShare(t, "while both have entries waiting", f.claim(t, 100), second, 45, 55)
	}
	for { // nothing is held back for the other
		lease := f.claim(t, 100)
		if len(lease.Entries) < 100 {
			break
		}
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1500})
}

func fairOneBehindFive(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for i := range 5 {
		f.submitAs(t, f.newGroup(t, fmt.Sprintf("Bulk %d", i), submitter), 300)
	}
	lone := f.newGroup(t, "A doctor", submitter)
	f.wantWithin(t, "before any other", 1, 18, f.submitAs(t, lone, 1))
	for range 4 {
		f.claim(t, 100)
		f.wantWithin(t, "while the drain is under way", 1, 18, f.submitAs(t, lone, 1))
	}
}

func fairEditedNext(t *testing.T, h Harness) {
	f := newFixture(t, h)
	done := f.process(t, seqlease.HasErrors, seqlease.NoIssues)
	for _, name := range []string{"A clinic", "Another clinic"} {
		f.submitAs(t, f.newGroup(t, name, submitter), 1000)
	}
	f.claim(t, 100)
	f.mustEdit(t, done[0], submitted(5))
	f.wantWithin(t, "after the edit", 1, 6, done[:1])
	bad := f.submitAs(t, f.group, 1)
	f.quarantineEntries(t, bad, 1)
	f.requeue(t, queue.Selection{Organism: WestNile}, 1)
	f.wantWithin(t, "after the requeuing", 1, 6, bad)
}

func fairAfterDrain(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second := f.newGroup(t, "A clinic", submitter)
	for range 3 { // the first group has been given many more ranks
		f.submitAs(t, f.group, 400)
		f.submitAs(t, second, 5)
		wantShare(t, "after the drain", f.claim(t, 20), second, 5, 5)
		f.claim(t, 1000)
		f.age(t, 0) // forget what is in memory
	}
	wantSame(t, "claimed of nothing", claimed(f.claim(t, 10)), nil)
	f.submitAs(t, second, 400)
	f.submitAs(t, f.group, 5)
	wantShare(t, "when the other has many", f.claim(t, 20), f.group, 5, 5)
}

func fairBeforeBulk(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, slices.Repeat([]seqlease.ProcessingResult{seqlease.NoIssues}, 60)...)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 60)
	first := f.claim(t, 10)
	versions := f.submit(t, 5)
	lease := f.claim(t, 20)
	wantSame(t, "claimed first", claimed(lease)[:5], versions)
	wantSame(t, "claimed in all", len(lease.Entries), 20)
	f.giveBack(t, first.AttemptID, false, 10)
	versions = f.submit(t, 5)
	f.wantWithin(t, "beside what was given back", 1, 20, versions)
}

func fairGivenBack(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 100)
	lease := f.claim(t, 10)
	f.claim(t, 10)
	f.giveBack(t, lease.AttemptID, false, 10)
	wantSame(t, "claimed next", claimed(f.claim(t, 10)), claimed(lease))
}

func fairOwnOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	var want []seqlease.AccessionVersion
	for range 4 {
		want = append(want, f.submit(t, 15)...)
	}
	var got []seqlease.AccessionVersion
	for range 12 {
		got = append(got, claimed(f.claim(t, 5))...)
	}
	wantSame(t, "claimed", got, want)
}

func fairOtherServer(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.second(t)
	second := f.newGroup(t, "A clinic", submitter)
	f.submitAs(t, f.group, 1000)
	for range 4 {
		f.claim(t, 100)
		f.wantWithin(t, "submitted through the other server", 2, 40, other.submitAs(t, second, 10))
	}
}
