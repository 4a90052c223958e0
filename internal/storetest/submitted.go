package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func submittedCases() []testCase {
	return []testCase{
		{name: "Submitted_CarriesWhatWasSubmitted", check: submittedFields},
		{name: "Submitted_Filters", check: submittedFilters},
		{name: "Submitted_StatusesAreThoseOfNow", check: submittedStatusesOfNow},
		{name: "Submitted_AfterAnEdit", check: submittedAfterEdit},
		{name: "Submitted_RevocationsAreIncluded", check: submittedRevocations},
		{name: "Submitted_OrderIsByteByByte", check: submittedOrder},
		{name: "Submitted_IsOneSnapshot", needs: WriteWhileReading, check: submittedSnapshot},
		{name: "Submitted_ErrorOfACallbackEndsTheCall", check: submittedCallbackError},
		{name: "Submitted_OrganismsApart", check: submittedOrganismsApart},
		{name: "Submitted_UnknownOrganism", check: submittedUnknownOrganism},
		{name: "Revisable_OnlyReleasedEntriesOfTheGroup", check: revisableReleased},
		{name: "Revisable_Accessions", check: revisableAccessions},
		{name: "Revisable_TheHighestVersionCountsWhateverItsStatus", check: revisableHighest},
		{name: "Revisable_ARevisionThatWaitsHidesTheVersionBefore", check: revisableRevised},
		{name: "Revisable_IsOneSnapshot", needs: WriteWhileReading, check: revisableSnapshot},
		{name: "Revisable_ErrorOfACallbackEndsTheCall", check: revisableCallbackError},
	}
}

// readBack is what a read of submitted data yields.
type readBack struct {
	submission.SubmittedEntry
	document string
}

// readInto collects what is yielded, unpacked, and checks the head against it.
func (f *fixture) readInto(t *testing.T, read func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error) (submission.SubmittedHead, []readBack) {
	t.Helper()
	var head submission.SubmittedHead
	var list []readBack
	begun := 0
	err := read(func(h submission.SubmittedHead) error {
		head = h
		begun++
		return nil
	}, func(e submission.SubmittedEntry) error {
		document, err := f.Unpack(t.Context(), e.Data)
		e.Data = seqlease.Packed{}
		list = append(list, readBack{e, string(document)})
		return err
	})
	if err != nil {
		t.Fatalf("read what was submitted: %v", err)
	}
	wantSame(t, "calls of begin", begun, 1)
	wantSame(t, "announced entries", head.Count, int64(len(list)))
	return head, list
}

func (f *fixture) readSubmitted(t *testing.T, filter submission.SubmittedFilter) (submission.SubmittedHead, []readBack) {
	t.Helper()
	return f.readInto(t, func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
		return f.ReadSubmitted(t.Context(), filter, begin, yield)
	})
}

func (f *fixture) readRevisable(t *testing.T, filter submission.RevisableFilter) (submission.SubmittedHead, []readBack) {
	t.Helper()
	return f.readInto(t, func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
		return f.ReadRevisable(t.Context(), filter, begin, yield)
	})
}

// namesOf lists the entries.
func namesOf(list []readBack) []seqlease.AccessionVersion {
	var names []seqlease.AccessionVersion
	for _, e := range list {
		names = append(names, e.AccessionVersion)
	}
	return names
}

func submittedFields(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(2)
	u.Submitter = "bert"
	versions := f.submitUpload(t, u)
	before := f.now(t)
	head, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile})
	wantBetween(t, "read", head.Now, before, f.now(t))
	wantSame(t, "zone of the time", head.Now.Location(), time.UTC)
	var want []readBack
	for i, av := range versions {
		want = append(want, readBack{
			submission.SubmittedEntry{AccessionVersion: av, SubmissionID: sampleID(i), Submitter: "bert"}, string(submitted(i)),
		})
	}
	if diff := cmp.Diff(want, list, cmp.AllowUnexported(readBack{})); diff != "" {
		t.Errorf("submitted (-want +got):\n%s", diff)
	}
}

func submittedFilters(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	other := f.newGroup(t, "Public Health Agency", "bert")
	u := f.upload(1)
	u.GroupID = other.GroupID
	versions = append(versions, f.submitUpload(t, u)...) // 6: received
	unknown := seqlease.AccessionVersion{Accession: "LOC_UNKNOWN", Version: 1}
	second := seqlease.AccessionVersion{Accession: versions[0].Accession, Version: 2}
	for _, c := range []struct {
		name   string
		filter submission.SubmittedFilter
		want   []int // of versions, in order of accession
	}{
		{"nothing filtered", submission.SubmittedFilter{}, []int{5, 2, 3, 4, 1, 0, 6}},
		{"a group", submission.SubmittedFilter{GroupIDs: []int64{other.GroupID}}, []int{6}},
		{"no group at all", submission.SubmittedFilter{GroupIDs: []int64{}}, nil},
		{"two statuses", submission.SubmittedFilter{Statuses: []seqlease.Status{seqlease.InProcessing, seqlease.ApprovedForRelease}}, []int{5, 1}},
		{"the other two", submission.SubmittedFilter{Statuses: []seqlease.Status{seqlease.Received, seqlease.Processed}}, []int{2, 3, 4, 0, 6}},
		{"no status at all", submission.SubmittedFilter{Statuses: []seqlease.Status{}}, nil},
		{"entries", submission.SubmittedFilter{Entries: []seqlease.AccessionVersion{versions[6], versions[1]}}, []int{1, 6}},
		{"an entry twice", submission.SubmittedFilter{Entries: []seqlease.AccessionVersion{versions[1], versions[1]}}, []int{1}},
		{"entries that don't exist", submission.SubmittedFilter{Entries: []seqlease.AccessionVersion{unknown, second}}, nil},
		{"no entry at all", submission.SubmittedFilter{Entries: []seqlease.AccessionVersion{}}, nil},
		{"all filters", submission.SubmittedFilter{
			Entries: versions[:3], GroupIDs: []int64{f.group.GroupID}, Statuses: []seqlease.Status{seqlease.Processed},
		}, []int{2}},
		{"filters that exclude each other", submission.SubmittedFilter{Entries: versions[:3], GroupIDs: []int64{other.GroupID}}, nil},
	} {
		c.filter.Organism = WestNile
		_, list := f.readSubmitted(t, c.filter)
		var got []int
		for _, av := range namesOf(list) {
			got = append(got, slices.Index(versions, av))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: read %v, want %v", c.name, got, c.want)
		}
	}
}

// submittedStatusesOfNow has a lease that has ended, without anybody having tidied up (L4).
func submittedStatusesOfNow(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 1)
	f.claim(t, 1)
	held := submission.SubmittedFilter{Organism: WestNile, Statuses: []seqlease.Status{seqlease.InProcessing}}
	_, list := f.readSubmitted(t, held)
	wantSame(t, "in processing", namesOf(list), versions)
	f.age(t, leaseTime+time.Second)
	_, list = f.readSubmitted(t, held)
	wantSame(t, "in processing after the lease end", namesOf(list), nil)
	_, list = f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile, Statuses: []seqlease.Status{seqlease.Received}})
	wantSame(t, "received after the lease end", namesOf(list), versions)
}

func submittedAfterEdit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors, seqlease.NoIssues)
	edited := document(seqlease.SubmittedData{Metadata: map[string]string{"country": "Chad"}})
	f.mustEdit(t, versions[0], edited)
	_, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile})
	wantSame(t, "entries", namesOf(list), versions)
	wantSame(t, "the edited document", list[0].document, string(edited))
	wantSame(t, "the other document", list[1].document, string(submitted(1)))
}

func submittedRevocations(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 2)
	made := f.mustRevoke(t, versions[0].Accession)[0]
	_, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile})
	wantSame(t, "entries", namesOf(list), []seqlease.AccessionVersion{versions[0], made.AccessionVersion, versions[1]})
	wantSame(t, "the revocation", list[1], readBack{submission.SubmittedEntry{
		AccessionVersion: made.AccessionVersion, SubmissionID: made.SubmissionID, Submitter: "bert", IsRevocation: true,
	}, string(why)})
	_, list = f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile, Statuses: []seqlease.Status{seqlease.Processed}})
	wantSame(t, "processed entries", namesOf(list), []seqlease.AccessionVersion{made.AccessionVersion})
}

func submittedOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	var versions []seqlease.AccessionVersion
	for _, p := range []string{"b_", "B_", "a-", "_", "ä"} {
		u := f.upload(1)
		u.AccessionPrefix = p
		versions = append(versions, f.submitUpload(t, u)...)
	}
	slices.SortFunc(versions, seqlease.AccessionVersion.Compare)
	_, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile})
	wantSame(t, "submitted", namesOf(list), versions)
	_, list = f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile, Entries: versions})
	wantSame(t, "submitted, each named", namesOf(list), versions)
	f.mustAccept(t, f.lines(t, f.claim(t, 10))...)
	f.approveAll(t)
	_, list = f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID})
	wantSame(t, "revisable", namesOf(list), versions)
}

func submittedSnapshot(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 3)
	var count int64
	var got []seqlease.AccessionVersion
	err := f.ReadSubmitted(t.Context(), submission.SubmittedFilter{Organism: WestNile}, func(head submission.SubmittedHead) error {
		count = head.Count
		f.submit(t, 2)
		return nil
	}, func(e submission.SubmittedEntry) error {
		if got = append(got, e.AccessionVersion); len(got) == 1 {
			f.submit(t, 2)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("read submitted: %v", err)
	}
	wantSame(t, "announced entries", count, 3)
	wantSame(t, "entries", got, versions)
}

func submittedCallbackError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	wantCallbackErrors(t, func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
		return f.ReadSubmitted(t.Context(), submission.SubmittedFilter{Organism: WestNile}, begin, yield)
	})
	_, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile})
	wantSame(t, "entries read afterwards", len(list), 3)
}

// wantCallbackErrors checks that the error of either callback ends the read.
func wantCallbackErrors(t *testing.T, read func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error) {
	t.Helper()
	broken := errors.New("the spool is full")
	yielded := 0
	yield := func(submission.SubmittedEntry) error {
		yielded++
		return broken
	}
	wantError(t, read(func(submission.SubmittedHead) error { return nil }, yield), broken)
	wantSame(t, "entries until the error", yielded, 1)
	wantError(t, read(func(submission.SubmittedHead) error { return broken }, yield), broken)
	wantSame(t, "entries after an error of begin", yielded, 1)
}

func submittedOrganismsApart(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	cchf := f.submitTo(t, CCHF, 1)
	_, list := f.readSubmitted(t, submission.SubmittedFilter{Organism: CCHF})
	wantSame(t, "entries", namesOf(list), cchf)
	wantSame(t, "document", list[0].document, string(submitted(0)))
	_, list = f.readSubmitted(t, submission.SubmittedFilter{Organism: WestNile, Entries: cchf})
	wantSame(t, "named entries of another organism", namesOf(list), nil)
}

func submittedUnknownOrganism(t *testing.T, h Harness) {
	f := newFixture(t, h)
	begin := func(submission.SubmittedHead) error { return nil }
	yield := func(submission.SubmittedEntry) error { return nil }
	wantError(t, f.ReadSubmitted(t.Context(), submission.SubmittedFilter{Organism: "moss"}, begin, yield), seqlease.ErrUnknownOrganism)
	wantError(t, f.ReadRevisable(t.Context(), submission.RevisableFilter{Organism: "moss"}, begin, yield), seqlease.ErrUnknownOrganism)
}

// releasedOfTwoGroups releases two entries of the fixture's group and one of another,
// and leaves one of the former processed and one received.
func (f *fixture) releasedOfTwoGroups(t *testing.T) (own []seqlease.AccessionVersion, other seqlease.Group, foreign []seqlease.AccessionVersion) {
	t.Helper()
	other = f.newGroup(t, "Public Health Agency", "bert")
	own = f.process(t, seqlease.NoIssues, seqlease.HasWarnings)
	u := f.upload(1)
	u.GroupID = other.GroupID
	foreign = f.submitUpload(t, u)
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.wantApproved(t, "three", approval(), slices.Concat(own, foreign)...)
	f.process(t, seqlease.NoIssues)
	f.submit(t, 1)
	return own, other, foreign
}

func revisableReleased(t *testing.T, h Harness) {
	f := newFixture(t, h)
	own, other, foreign := f.releasedOfTwoGroups(t)
	before := f.now(t)
	head, list := f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID})
	wantBetween(t, "read", head.Now, before, f.now(t))
	var want []readBack
	for i, av := range own {
		want = append(want, readBack{
			submission.SubmittedEntry{AccessionVersion: av, SubmissionID: sampleID(i), Submitter: submitter}, string(submitted(i)),
		})
	}
	if diff := cmp.Diff(want, list, cmp.AllowUnexported(readBack{})); diff != "" {
		t.Errorf("revisable (-want +got):\n%s", diff)
	}
	_, list = f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: other.GroupID})
	wantSame(t, "of the other group", namesOf(list), foreign)
	_, list = f.readRevisable(t, submission.RevisableFilter{Organism: CCHF, GroupID: f.group.GroupID})
	wantSame(t, "of the other organism", namesOf(list), nil)
}

func revisableAccessions(t *testing.T, h Harness) {
	f := newFixture(t, h)
	own, _, foreign := f.releasedOfTwoGroups(t)
	for _, c := range []struct {
		name string
		list []seqlease.Accession
		want []seqlease.AccessionVersion
	}{
		{"one", []seqlease.Accession{own[1].Accession}, own[1:]},
		{"one twice", []seqlease.Accession{own[1].Accession, own[1].Accession}, own[1:]},
		{"out of order", []seqlease.Accession{own[1].Accession, "LOC_UNKNOWN", own[0].Accession}, own},
		{"another group's", []seqlease.Accession{foreign[0].Accession}, nil},
		{"none at all", []seqlease.Accession{}, nil},
	} {
		_, list := f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID, Accessions: c.list})
		wantSame(t, c.name, namesOf(list), c.want)
	}
}

// wantRevisable checks which entries of the fixture's group can be revised, both when
// all are asked for and when those accessions are.
func (f *fixture) wantRevisable(t *testing.T, when string, asked, want []seqlease.AccessionVersion) {
	t.Helper()
	_, list := f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID})
	wantSame(t, "revisable "+when, namesOf(list), want)
	_, list = f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID, Accessions: accessionsOf(asked)})
	wantSame(t, "revisable by name "+when, namesOf(list), want)
}

// revisableRevised has a revision that waits, is processed, is edited, is released,
// and one that is deleted before that.
func revisableRevised(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 3)
	made := f.mustRevise(t, f.revision(versions[1]))
	rest := []seqlease.AccessionVersion{versions[0], versions[2]}
	f.wantRevisable(t, "with a revision that waits", versions, rest)
	f.mustAccept(t, f.line(t, 1, made[0], f.claim(t, 1).AttemptID, "wrong", seqlease.HasErrors))
	f.wantRevisable(t, "with a revision that has errors", versions, rest)
	f.mustEdit(t, made[0], submitted(77))
	f.mustAccept(t, f.lines(t, f.claim(t, 1))...)
	f.wantRevisable(t, "with a revision that is processed", versions, rest)
	f.wantApproved(t, "the revision", approval(made...), made...)
	f.wantRevisable(t, "with a revision that is released", versions, []seqlease.AccessionVersion{versions[0], made[0], versions[2]})
	_, list := f.readRevisable(t, submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID})
	wantSame(t, "the revision's document", list[1].document, string(submitted(77)))

	again := f.mustRevise(t, f.revision(made[0], versions[2]))
	f.wantRevisable(t, "with two revisions that wait", versions, versions[:1])
	f.mustDelete(t, again[1])
	f.wantRevisable(t, "when one of them is gone", versions, rest)
}

// revisableHighest has a revocation that waits for its release and one that is released.
func revisableHighest(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.releasedEntries(t, 3)
	revisable := func(when string, want ...seqlease.AccessionVersion) {
		t.Helper()
		f.wantRevisable(t, when, versions, want)
	}
	revisable("at first", versions...)
	made := f.mustRevoke(t, versions[1].Accession)[0]
	revisable("with a revocation that waits", versions[0], versions[2])
	f.wantApproved(t, "the revocation", approval(made.AccessionVersion), made.AccessionVersion)
	revisable("with a revocation that is released", versions[0], versions[2])
	waiting := f.mustRevoke(t, versions[2].Accession)[0]
	revisable("with two revocations", versions[0])
	f.mustDelete(t, waiting.AccessionVersion)
	revisable("when one of them is gone", versions[0], versions[2])
}

func revisableSnapshot(t *testing.T, h Harness) {
	f := newFixture(t, h)
	own, _, _ := f.releasedOfTwoGroups(t)
	var count int64
	var got []seqlease.AccessionVersion
	err := f.ReadRevisable(t.Context(), submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID}, func(head submission.SubmittedHead) error {
		count = head.Count
		wantSame(t, "approved meanwhile", len(f.approveAll(t)), 1)
		return nil
	}, func(e submission.SubmittedEntry) error {
		got = append(got, e.AccessionVersion)
		return nil
	})
	if err != nil {
		t.Fatalf("read revisable: %v", err)
	}
	wantSame(t, "announced entries", count, 2)
	wantSame(t, "entries", got, own)
}

func revisableCallbackError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.releasedOfTwoGroups(t)
	wantCallbackErrors(t, func(begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
		return f.ReadRevisable(t.Context(), submission.RevisableFilter{Organism: WestNile, GroupID: f.group.GroupID}, begin, yield)
	})
}
