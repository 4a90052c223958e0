package storetest

import (
	"encoding/json"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// quarantineResultCases check which results quarantine replaces, and what the
// submitter reads (L9).
func quarantineResultCases() []testCase {
	return []testCase{
		{name: "L9_SubmitterSeesTheReason", check: quarantineL9Reason},
		{name: "L9_QuarantineNeverReplacesAGoodResult", check: quarantineL9GoodStays},
		{name: "L9_QuarantineReplacesAResultWithErrors", check: quarantineL9BadGoes},
		{name: "L9_RequeueKeepsAGoodResult", check: quarantineL9RequeueGood},
	}
}

// spoilAgain has entries that are processed use up their attempts again.
func (f *fixture) spoilAgain(t *testing.T, versions []seqlease.AccessionVersion) {
	t.Helper()
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: versions}, len(versions))
	f.expire(t, len(versions), queue.DefaultRetry.Attempts)
}

func quarantineL9GoodStays(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues, seqlease.HasWarnings)
	f.spoilAgain(t, versions)
	f.quarantineSpent(t)
	wantSame(t, "left", f.spent(t), nil)
	wantSame(t, "noted as quarantined", len(f.quarantined(t)), 2)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 2})
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1, seqlease.HasWarnings: 1})
	wantSame(t, "approved", f.approveAll(t), versions)
	_, released := f.released(t)
	wantSame(t, "released result", string(released[0].Result), string(processed("result of "+versions[0].String(), seqlease.NoIssues)))
}

// wantResults checks the counts of results of West Nile virus.
func (f *fixture) wantResults(t *testing.T, want map[seqlease.ProcessingResult]int64) {
	t.Helper()
	_, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "result counts", present(counts.Results), want)
}

func quarantineL9BadGoes(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasErrors)
	f.spoilAgain(t, versions)
	wantSame(t, "errors", f.failedDocument(t, versions[0]).Errors[0].Message, "too short")
	f.quarantineSpent(t)
	wantSame(t, "errors", f.failedDocument(t, versions[0]).Errors[0].Message, usedUp)
	f.wantResults(t, map[seqlease.ProcessingResult]int64{seqlease.HasErrors: 1})
}

func quarantineL9RequeueGood(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	f.spoilAgain(t, versions)
	f.quarantineSpent(t)
	f.requeue(t, queue.Selection{Organism: WestNile}, 1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1})
	lease := f.claim(t, 1)
	wantSame(t, "claimed", claimed(lease), versions)
	f.mustAccept(t, f.line(t, 1, versions[0], lease.AttemptID, "at last", seqlease.NoIssues))
	f.wantReleased(t, "at last")
}

func quarantineL9Reason(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.spoil(t, 1)
	f.quarantineSpent(t)
	result := f.failedDocument(t, versions[0])
	if len(result.Errors) != 1 || result.Errors[0].Message != usedUp {
		t.Errorf("the submitter reads %v, want %q", result.Errors, usedUp)
	}
}

// failedDocument reads the present result of an entry, which has errors.
func (f *fixture) failedDocument(t *testing.T, av seqlease.AccessionVersion) seqlease.StoredResult {
	t.Helper()
	list, err := f.FailedResults(t.Context(), WestNile, 0, 0, 1000)
	if err != nil {
		t.Fatalf("failed results: %v", err)
	}
	var result seqlease.StoredResult
	for _, r := range list {
		if r.AccessionVersion != av {
			continue
		}
		doc, err := f.Unpack(t.Context(), r.Document)
		if err != nil {
			t.Fatalf("unpack the result of %s: %v", av, err)
		}
		if err := json.Unmarshal(doc, &result); err != nil {
			t.Fatalf("the result of %s: %v", av, err)
		}
		return result
	}
	t.Errorf("%s has no result with errors", av)
	return result
}
