package submission_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestList_Filters(t *testing.T) {
	t.Parallel()
	h, all := judged(t)
	number := func(n int) *int { return &n }
	line := func(i int) string {
		return all[i].String() + " " + []string{"PROCESSED NO_ISSUES", "PROCESSED HAS_WARNINGS", "PROCESSED HAS_ERRORS", "RECEIVED NO_ISSUES", "PROCESSED NO_ISSUES"}[i]
	}
	tests := []struct {
		name    string
		person  seqlease.Person
		request submission.ListRequest
		want    []int // places in the list of judged, in order of accession
		counts  int64 // entries counted, whatever else is filtered
	}{
		{"own groups", anna, submission.ListRequest{}, []int{0, 1, 2, 3}, 4},
		{"super user: all", root, submission.ListRequest{}, []int{0, 1, 2, 4, 3}, 5},
		{"stranger: none", pipeline, submission.ListRequest{}, nil, 0},
		{"empty group filter", root, submission.ListRequest{GroupIDs: []int64{}}, nil, 0},
		{"group filter", root, submission.ListRequest{GroupIDs: []int64{h.group}}, []int{0, 1, 2, 3}, 4},
		{"statuses", anna, submission.ListRequest{Statuses: []seqlease.Status{seqlease.Received}}, []int{3}, 4},
		{"no statuses", anna, submission.ListRequest{Statuses: []seqlease.Status{}}, nil, 4},
		{"results restrict what is processed", anna, submission.ListRequest{Results: []seqlease.ProcessingResult{seqlease.HasErrors}}, []int{2, 3}, 4},
		{"a page", root, submission.ListRequest{Page: number(1), Size: number(2)}, []int{2, 4}, 5},
		{"a page behind the end", root, submission.ListRequest{Page: number(9), Size: number(2)}, nil, 5},
		{"a page far behind the end", root, submission.ListRequest{Page: number(1 << 40), Size: number(1 << 40)}, nil, 5},
		{"a page of nothing", root, submission.ListRequest{Page: number(0), Size: number(0)}, nil, 5},
		{"size alone has no effect", anna, submission.ListRequest{Size: number(1)}, []int{0, 1, 2, 3}, 4},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.request.Organism = zika
			got, counts := h.list(t, tc.person, tc.request)
			var want []string
			for _, i := range tc.want {
				want = append(want, line(i))
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("entries (-got +want):\n%s", diff)
			}
			var sum int64
			for _, n := range counts.Statuses {
				sum += n
			}
			if sum != tc.counts {
				t.Errorf("counted %d entries, want %d: %v", sum, tc.counts, counts)
			}
		})
	}
}

func TestList_CountsNameEveryStatusAndResult(t *testing.T) {
	t.Parallel()
	h, _ := judged(t)
	_, got := h.list(t, anna, submission.ListRequest{Organism: zika})
	want := submission.Counts{
		Statuses: map[seqlease.Status]int64{seqlease.Received: 1, seqlease.InProcessing: 0, seqlease.Processed: 3, seqlease.ApprovedForRelease: 0},
		Results:  map[seqlease.ProcessingResult]int64{seqlease.NoIssues: 1, seqlease.HasWarnings: 1, seqlease.HasErrors: 1},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
}

func TestList_Refusals(t *testing.T) {
	t.Parallel()
	h, _ := judged(t)
	negative := -1
	stop := errors.New("the file is full")
	ignore := func(submission.ListedEntry) error { return nil }
	tests := []struct {
		name    string
		request submission.ListRequest
		yield   func(submission.ListedEntry) error
		is      error
		says    string
	}{
		{"unknown group", submission.ListRequest{Organism: zika, GroupIDs: []int64{h.group, 7}}, ignore, seqlease.ErrNotFound, "there is no group 7"},
		{"group of others", submission.ListRequest{Organism: zika, GroupIDs: []int64{h.group, 2}}, ignore, seqlease.ErrForbidden, "not a member of group 2"},
		{"unknown organism", submission.ListRequest{Organism: "fern"}, ignore, seqlease.ErrUnknownOrganism, "fern"},
		{"negative page", submission.ListRequest{Organism: zika, Page: &negative}, ignore, nil, "page must be 0 or more"},
		{"negative size", submission.ListRequest{Organism: zika, Size: &negative}, ignore, nil, "size must be 0 or more"},
		{"an error of the caller", submission.ListRequest{Organism: zika}, func(submission.ListedEntry) error { return stop }, stop, "full"},
	}
	for _, tc := range tests {
		_, err := h.List(t.Context(), anna, tc.request, tc.yield)
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(fmt.Sprint(err), tc.says) {
			t.Errorf("%s: got %v, want an error that says %q", tc.name, err, tc.says)
		}
	}
}
