package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

func listCases() []testCase {
	return []testCase{
		{name: "List_StatusesAndResults", check: listStatuses},
		{name: "List_CarriesWhatWasSubmitted", check: listFields},
		{name: "List_Filters", check: listFilters},
		{name: "List_FiltersAgreeWithTheWholeList", needs: Large, check: listFiltersAgree},
		{name: "List_CountsIgnoreStatusResultAndPaging", check: listCounts},
		{name: "List_OrderIsByteByByte", check: listOrder},
		{name: "List_IsOneSnapshot", needs: WriteWhileReading, check: listSnapshot},
		{name: "List_ErrorOfYieldEndsTheCall", check: listYieldError},
		{name: "List_OrganismsApart", check: listOrganismsApart},
	}
}

// everyState leaves one entry in each state, in the order of the result:
// received, in processing, processed without issues, with warnings, with errors,
// and approved with warnings.
func (f *fixture) everyState(t *testing.T) []seqlease.AccessionVersion {
	t.Helper()
	approved := f.process(t, seqlease.HasWarnings)
	f.wantApproved(t, "the first", approval(), approved...)
	done := f.process(t, seqlease.NoIssues, seqlease.HasWarnings, seqlease.HasErrors)
	held := f.submit(t, 1)
	f.claim(t, 1)
	received := f.submit(t, 1)
	return slices.Concat(received, held, done, approved)
}

// states is what everyState must show.
var states = []struct {
	status seqlease.Status
	result seqlease.ProcessingResult
}{
	{seqlease.Received, seqlease.NoIssues}, // the protocol's quirk: not empty
	{seqlease.InProcessing, ""},
	{seqlease.Processed, seqlease.NoIssues},
	{seqlease.Processed, seqlease.HasWarnings},
	{seqlease.Processed, seqlease.HasErrors},
	{seqlease.ApprovedForRelease, seqlease.HasWarnings},
}

func listStatuses(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "listed entries", len(listed), len(versions))
	for _, e := range listed {
		want := states[slices.Index(versions, e.AccessionVersion)]
		if e.Status != want.status || e.Result != want.result {
			t.Errorf("%s is %s %q, want %s %q", e.AccessionVersion, e.Status, e.Result, want.status, want.result)
		}
	}
	if !slices.IsSortedFunc(listed, func(a, b submission.ListedEntry) int { return a.Compare(b.AccessionVersion) }) {
		t.Error("the entries are not listed by accession and version")
	}
}

func listFields(t *testing.T, h Harness) {
	f := newFixture(t, h)
	u := f.upload(1)
	u.Submitter = "bert"
	u.Terms = seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC)}
	restricted := f.submitUpload(t, u)
	open := f.submit(t, 1)
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	wantSame(t, "listed", listed, []submission.ListedEntry{
		{
			AccessionVersion: restricted[0], Status: seqlease.Received, Result: seqlease.NoIssues,
			GroupID: f.group.GroupID, Submitter: "bert", SubmissionID: "sample-0", Terms: u.Terms,
		},
		{
			AccessionVersion: open[0], Status: seqlease.Received, Result: seqlease.NoIssues,
			GroupID: f.group.GroupID, Submitter: submitter, SubmissionID: "sample-0",
			Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen},
		},
	})
}

func listFilters(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.everyState(t)
	other := f.newGroup(t, "Public Health Agency", "bert")
	u := f.upload(1)
	u.GroupID = other.GroupID
	versions = append(versions, f.submitUpload(t, u)...) // 6: received
	for _, c := range []struct {
		name   string
		filter submission.ListFilter
		want   []int // of versions, in order of accession
	}{
		{"nothing filtered", submission.ListFilter{}, []int{5, 2, 3, 4, 1, 0, 6}},
		{"a group", submission.ListFilter{GroupIDs: []int64{other.GroupID}}, []int{6}},
		{"no group at all", submission.ListFilter{GroupIDs: []int64{}}, nil},
		{"a group that doesn't exist", submission.ListFilter{GroupIDs: []int64{4711}}, nil},
		{"two statuses", submission.ListFilter{Statuses: []seqlease.Status{seqlease.Received, seqlease.ApprovedForRelease}}, []int{5, 0, 6}},
		{"no status at all", submission.ListFilter{Statuses: []seqlease.Status{}}, nil},
		{"a result restricts only processed entries", submission.ListFilter{Results: []seqlease.ProcessingResult{seqlease.HasErrors}}, []int{5, 4, 1, 0, 6}},
		{"processed with two results", submission.ListFilter{
			Statuses: []seqlease.Status{seqlease.Processed}, Results: []seqlease.ProcessingResult{seqlease.NoIssues, seqlease.HasWarnings},
		}, []int{2, 3}},
		{"a limit", submission.ListFilter{Limit: 2}, []int{5, 2}},
		{"an offset and a limit", submission.ListFilter{Offset: 2, Limit: 3}, []int{3, 4, 1}},
		{"an offset", submission.ListFilter{Offset: 5}, []int{0, 6}},
		{"an offset past the end", submission.ListFilter{Offset: 7, Limit: 5}, nil},
		{"paging of what a filter takes", submission.ListFilter{
			Statuses: []seqlease.Status{seqlease.Processed}, Offset: 1, Limit: 1,
		}, []int{3}},
	} {
		c.filter.Organism = WestNile
		listed, _ := f.list(t, c.filter)
		var got []int
		for _, e := range listed {
			got = append(got, slices.Index(versions, e.AccessionVersion))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: listed %v, want %v", c.name, got, c.want)
		}
	}
}

// someOf returns all subsets of the list, and nil.
func someOf[T any](list []T) [][]T {
	subsets := [][]T{nil}
	for chosen := range 1 << len(list) {
		subset := []T{}
		for i, v := range list {
			if chosen>>i&1 == 1 {
				subset = append(subset, v)
			}
		}
		subsets = append(subsets, subset)
	}
	return subsets
}

// pageOf is what the filter should list of all entries.
func pageOf(all []submission.ListedEntry, filter submission.ListFilter) []submission.ListedEntry {
	var page []submission.ListedEntry
	for _, e := range all {
		switch {
		case filter.GroupIDs != nil && !slices.Contains(filter.GroupIDs, e.GroupID):
		case filter.Statuses != nil && !slices.Contains(filter.Statuses, e.Status):
		case filter.Results != nil && e.Status == seqlease.Processed && !slices.Contains(filter.Results, e.Result):
		default:
			page = append(page, e)
		}
	}
	page = page[min(filter.Offset, len(page)):]
	if filter.Limit > 0 {
		page = page[:min(filter.Limit, len(page))]
	}
	return page
}

// listFiltersAgree has every filter take of the whole list what it says, page by page:
// where few entries of many are released and where most are, with revocations, a
// revision, and entries that are processed again.
func listFiltersAgree(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.newGroup(t, "Public Health Agency", "bert")
	f.everyState(t)
	u := f.upload(2)
	u.GroupID = other.GroupID
	f.submitUpload(t, u)
	f.filtersAgree(t, other.GroupID)

	f.mustAccept(t, f.lines(t, f.claim(t, 10))...)
	released := f.releasedEntries(t, 60)
	done := f.process(t, seqlease.HasWarnings, seqlease.HasErrors)
	f.mustEdit(t, done[1], submitted(7))
	f.reprocess(t, queue.Selection{Organism: WestNile, Entries: append(done[:1:1], released[5:7]...)}, 3)
	f.claim(t, 10) // those three, whose old results stay visible, and the edited one
	f.mustRevoke(t, released[1].Accession)
	f.mustRevise(t, f.revision(released[2:4]...))
	f.filtersAgree(t, other.GroupID)
}

func (f *fixture) filtersAgree(t *testing.T, group int64) {
	t.Helper()
	all, counts := f.list(t, submission.ListFilter{Organism: WestNile})
	statuses, results := map[seqlease.Status]int64{}, map[seqlease.ProcessingResult]int64{}
	for _, e := range all {
		if statuses[e.Status]++; e.Status == seqlease.Processed {
			results[e.Result]++
		}
	}
	wantSame(t, "status counts", present(counts.Statuses), statuses)
	wantSame(t, "result counts", present(counts.Results), results)
	for _, s := range someOf(seqlease.Statuses()) {
		for _, r := range someOf(seqlease.ProcessingResults()) {
			for _, page := range []submission.ListFilter{{}, {Limit: 3}, {Offset: 2, Limit: 2}, {Offset: 4, GroupIDs: []int64{f.group.GroupID}}, {GroupIDs: []int64{group}}} {
				page.Organism, page.Statuses, page.Results = WestNile, s, r
				listed, _ := f.list(t, page)
				if diff := cmp.Diff(pageOf(all, page), listed, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("listed with %+v (-want +got):\n%s", page, diff)
				}
			}
		}
	}
}

func listCounts(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.everyState(t)
	other := f.newGroup(t, "Public Health Agency", "bert")
	u := f.upload(2)
	u.GroupID = other.GroupID
	f.submitUpload(t, u)
	statuses := map[seqlease.Status]int64{
		seqlease.Received: 3, seqlease.InProcessing: 1, seqlease.Processed: 3, seqlease.ApprovedForRelease: 1,
	}
	results := map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1, seqlease.HasWarnings: 1, seqlease.HasErrors: 1}
	for _, filter := range []submission.ListFilter{
		{},
		{Statuses: []seqlease.Status{seqlease.Processed}},
		{Statuses: []seqlease.Status{}},
		{Results: []seqlease.ProcessingResult{seqlease.HasErrors}},
		{Offset: 3, Limit: 1},
		{Offset: 100, Limit: 1},
	} {
		filter.Organism = WestNile
		_, counts := f.list(t, filter)
		if diff := cmp.Diff(statuses, present(counts.Statuses)); diff != "" {
			t.Errorf("status counts with %+v (-want +got):\n%s", filter, diff)
		}
		if diff := cmp.Diff(results, present(counts.Results)); diff != "" {
			t.Errorf("result counts with %+v (-want +got):\n%s", filter, diff)
		}
	}
	_, counts := f.list(t, submission.ListFilter{Organism: WestNile, GroupIDs: []int64{other.GroupID}})
	wantSame(t, "status counts of a group", present(counts.Statuses), map[seqlease.Status]int64{seqlease.Received: 2})
	wantSame(t, "result counts of a group", present(counts.Results), nil)
}

func listOrder(t *testing.T, h Harness) {
	f := newFixture(t, h)
	var versions []seqlease.AccessionVersion
	for _, p := range []string{"b_", "B_", "a-", "_", "ä"} {
		u := f.upload(1)
		u.AccessionPrefix = p
		versions = append(versions, f.submitUpload(t, u)...)
	}
	listed, _ := f.list(t, submission.ListFilter{Organism: WestNile})
	var got []seqlease.AccessionVersion
	for _, e := range listed {
		got = append(got, e.AccessionVersion)
	}
	slices.SortFunc(versions, seqlease.AccessionVersion.Compare)
	wantSame(t, "listed", got, versions)

	f.mustAccept(t, f.lines(t, f.claim(t, 10))...)
	wantSame(t, "approved", f.approveAll(t), versions)
	_, released := f.released(t)
	got = nil
	for _, e := range released {
		got = append(got, e.AccessionVersion)
	}
	wantSame(t, "released", got, versions)
}

func listSnapshot(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues, seqlease.NoIssues, seqlease.NoIssues)
	statuses := map[seqlease.Status]int64{}
	counts, err := f.List(t.Context(), submission.ListFilter{Organism: WestNile}, func(e submission.ListedEntry) error {
		if statuses[e.Status]++; statuses[e.Status] == 1 {
			f.approveAll(t)
			f.submit(t, 5)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	wantSame(t, "counts", present(counts.Statuses), statuses)
	wantSame(t, "listed as before the changes", statuses, map[seqlease.Status]int64{seqlease.Processed: 3})
}

func listYieldError(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 3)
	broken := errors.New("the reader has gone")
	calls := 0
	_, err := f.List(t.Context(), submission.ListFilter{Organism: WestNile}, func(submission.ListedEntry) error {
		calls++
		return broken
	})
	wantError(t, err, broken)
	wantSame(t, "calls of yield", calls, 1)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Received: 3})
}

func listOrganismsApart(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.submit(t, 2)
	cchf := f.submitTo(t, CCHF, 1)
	listed, counts := f.list(t, submission.ListFilter{Organism: CCHF})
	wantSame(t, "listed entries", len(listed), 1)
	wantSame(t, "listed", listed[0].AccessionVersion, cchf[0])
	wantSame(t, "status counts", present(counts.Statuses), map[seqlease.Status]int64{seqlease.Received: 1})
}
