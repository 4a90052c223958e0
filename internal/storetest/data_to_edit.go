package storetest

import (
	"encoding/json"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func dataToEditCases() []testCase {
	return []testCase{
		{name: "DataToEdit_HasWhatIsStored", check: dataToEditStored},
		{name: "DataToEdit_HasNoResultUntilThereIsOne", check: dataToEditWaiting},
		{name: "DataToEdit_OfTheCurrentVersionAndPresentRevision", check: dataToEditPresent},
		{name: "V9_DataToEditShowsTheOldResult", check: dataToEditReprocessed},
		{name: "L9_DataToEditShowsWhyItIsQuarantined", check: dataToEditQuarantined},
		{name: "DataToEdit_NotFound", check: dataToEditNotFound},
	}
}

// toEdit reads an entry, and its documents as text; that of the result is empty if
// there is none.
func (f *fixture) toEdit(t *testing.T, av seqlease.AccessionVersion) (e submission.EntryToEdit, data, result string) {
	t.Helper()
	e, err := f.EntryToEdit(t.Context(), av)
	if err != nil {
		t.Fatalf("entry to edit: %v", err)
	}
	text := func(p seqlease.Packed) string {
		document, err := f.Unpack(t.Context(), p)
		if err != nil {
			t.Fatalf("unpack a document of %s: %v", av, err)
		}
		return string(document)
	}
	data = text(e.Submitted)
	if e.Processed.Bytes != nil {
		result = text(e.Processed)
	}
	if n := int64(len(data) + len(result)); e.Bytes < n || e.Bytes > n+1000 {
		t.Errorf("the documents of %s have %d bytes, and are said to have %d", av, n, e.Bytes)
	}
	return e, data, result
}

func dataToEditStored(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	e, data, result := f.toEdit(t, versions[1])
	standing := submission.Standing{
		AccessionVersion: versions[1], Organism: WestNile, GroupID: f.group.GroupID, Status: seqlease.Processed, Result: seqlease.HasErrors,
	}
	wantSame(t, "standing", e.Standing, standing)
	wantSame(t, "submission id", e.SubmissionID, sampleID(1))
	wantSame(t, "submitted data", data, string(submitted(1)))
	wantSame(t, "result", result, string(processed("result of "+versions[1].String(), seqlease.HasErrors)))

	f.approveAll(t)
	e, _, result = f.toEdit(t, versions[0])
	wantSame(t, "status of a released entry", e.Status, seqlease.ApprovedForRelease)
	wantSame(t, "its result", result, string(processed("result of "+versions[0].String(), seqlease.NoIssues)))
	f.mustRevoke(t, versions[0].Accession)
	e, data, result = f.toEdit(t, next(versions[:1])[0])
	wantSame(t, "data and result of a revocation", []string{data, result}, []string{string(why), ""})
	if !e.IsRevocation {
		t.Error("the revocation isn't one")
	}
}

func dataToEditWaiting(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	f.claim(t, 1)
	for i, want := range []seqlease.Status{seqlease.InProcessing, seqlease.Received} {
		e, data, result := f.toEdit(t, versions[i])
		wantSame(t, "status", e.Status, want)
		wantSame(t, "data and result", []string{data, result}, []string{string(submitted(i)), ""})
	}
	f.age(t, leaseTime)
	e, _, _ := f.toEdit(t, versions[0])
	wantSame(t, "status after the lease end", e.Status, seqlease.Received)
}

func dataToEditPresent(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.registerVersion(t, newer)
	f.backfill(t, newer, 1000, 1)
	lease := f.claimNewer(t, 1)
	f.mustAcceptNewer(t, f.line(t, 1, versions[0], lease.AttemptID, "of the newer version", seqlease.HasErrors))
	_, _, result := f.toEdit(t, versions[0])
	wantSame(t, "result", result, string(processed("result of "+versions[0].String(), seqlease.NoIssues)))
	f.mustEdit(t, versions[0], submitted(7))
	e, data, result := f.toEdit(t, versions[0])
	wantSame(t, "status after the edit", e.Status, seqlease.Received)
	wantSame(t, "data and result after the edit", []string{data, result}, []string{string(submitted(7)), ""})
}

func dataToEditReprocessed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors)
	f.reprocess(t, queue.Selection{Organism: WestNile}, 1)
	f.claim(t, 1)
	e, _, result := f.toEdit(t, versions[0])
	wantSame(t, "status", e.Status, seqlease.Processed)
	wantSame(t, "result", result, string(processed("result of "+versions[0].String(), seqlease.HasErrors)))
}

func dataToEditQuarantined(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 1)
	f.quarantineSpent(t)
	e, _, document := f.toEdit(t, versions[0])
	wantSame(t, "status", e.Status, seqlease.Processed)
	var result seqlease.StoredResult
	if err := json.Unmarshal([]byte(document), &result); err != nil {
		t.Fatalf("result: %v", err)
	}
	if len(result.Errors) != 1 || result.Errors[0].Message != usedUp {
		t.Errorf("the errors are %v, want %q", result.Errors, usedUp)
	}
	f.mustEdit(t, versions[0], submitted(3))
	wantSame(t, "in quarantine after the edit", len(f.quarantined(t)), 0)
	wantSame(t, "claimed after the edit", claimed(f.claim(t, 1)), versions)
}

func dataToEditNotFound(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	for _, av := range []seqlease.AccessionVersion{{Accession: versions[0].Accession, Version: 2}, {Accession: "NONE", Version: 1}, {Accession: versions[0].Accession}} {
		_, err := f.EntryToEdit(t.Context(), av)
		wantError(t, err, seqlease.ErrNotFound)
	}
}
