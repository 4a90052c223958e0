package submission_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// judged submits four entries of anna and one of bert and processes all but the
// last of anna's: clean, with a warning, with an error, waiting, bert's (clean).
func judged(t *testing.T) (h *house, entries []seqlease.AccessionVersion) {
	t.Helper()
	h = open(t, submission.TermsOptions{}, nil)
	group, err := h.CreateGroup(t.Context(), bert, seqlease.NewGroup{GroupName: "Bert's group"})
	if err != nil {
		t.Fatal(err)
	}
	first := h.submitSmall(t, anna, h.group, "clean", "warned", "failed")
	berts := h.submitSmall(t, bert, group.GroupID, "berts")
	h.process(t, func(r *seqlease.Result, id string) {
		switch id {
		case "warned":
			r.Warnings = annotation("odd")
		case "failed":
			r.Errors = annotation("wrong")
		}
	})
	waiting := h.submitSmall(t, anna, h.group, "waiting")
	for _, m := range append(append(first, waiting...), berts...) {
		entries = append(entries, m.AccessionVersion)
	}
	return h, entries
}

func TestApprove_TakesWhatThePersonMayActFor(t *testing.T) {
	t.Parallel()
	type list = []int // places in the list of judged
	tests := []struct {
		name    string
		person  seqlease.Person
		request func(h *house, all []seqlease.AccessionVersion) submission.ApproveRequest
		want    list
	}{
		{"all of one's own", anna, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll}
		}, list{0, 1}},
		{"without warnings", anna, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveWithoutWarnings}
		}, list{0}},
		{"a super user takes all", root, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll}
		}, list{0, 1, 4}},
		{"a stranger has nothing", pipeline, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll}
		}, nil},
		{"by submitter", root, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, Submitters: []string{"bert", "nobody"}}
		}, list{4}},
		{"by group", root, func(h *house, _ []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, GroupIDs: []int64{h.group}}
		}, list{0, 1}},
		{"no group", root, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, GroupIDs: []int64{}}
		}, nil},
		{"by name, twice the same", anna, func(_ *house, all []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, Entries: []seqlease.AccessionVersion{all[1], all[0], all[1]}}
		}, list{0, 1}},
		{"by name, but not with warnings", anna, func(_ *house, all []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveWithoutWarnings, Entries: all[:2]}
		}, list{0}},
		{"no names", anna, func(*house, []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, Entries: []seqlease.AccessionVersion{}}
		}, nil},
		{"named entry of another group than the filter's", root, func(h *house, all []seqlease.AccessionVersion) submission.ApproveRequest {
			return submission.ApproveRequest{Scope: seqlease.ApproveAll, Entries: all[4:], GroupIDs: []int64{h.group}}
		}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, all := judged(t)
			request := tc.request(h, all)
			request.Organism = zika
			got, err := h.Approve(t.Context(), tc.person, request)
			if err != nil {
				t.Fatal(err)
			}
			var want []seqlease.AccessionVersion
			for _, i := range tc.want {
				want = append(want, all[i])
			}
			if len(got) != len(want) || len(want) > 0 && !cmp.Equal(got, want) {
				t.Errorf("approved %v, want %v", got, want)
			}
			_, counts := h.list(t, root, submission.ListRequest{Organism: zika})
			if got, want := counts.Statuses[seqlease.ApprovedForRelease], int64(len(want)); got != want {
				t.Errorf("released: got %d, want %d", got, want)
			}
		})
	}
}

// TestApprove_RefusesAsAWhole: the first fault in the protocol's order decides,
// and nothing is released.
func TestApprove_RefusesAsAWhole(t *testing.T) {
	t.Parallel()
	h, all := judged(t)
	clean, warned, failed, waiting, berts := all[0], all[1], all[2], all[3], all[4]
	unknown := seqlease.AccessionVersion{Accession: "LOC_NONE", Version: 1}
	tests := []struct {
		name    string
		person  seqlease.Person
		request submission.ApproveRequest
		is      error
		says    string
	}{
		{"unknown before all else", bert, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{clean, waiting, failed, unknown}}, seqlease.ErrState, "do not exist: LOC_NONE.1"},
		{"not processed before its errors and the permission", bert, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{failed, waiting}}, seqlease.ErrState, waiting.String() + " - RECEIVED"},
		{"errors before the permission", bert, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{clean, failed}}, seqlease.ErrState, failed.String()},
		{"permission", bert, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{berts, clean, warned}}, seqlease.ErrForbidden, clean.String() + ", " + warned.String()},
		{"permission before unknown groups", bert, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{clean}, GroupIDs: []int64{99}}, seqlease.ErrForbidden, clean.String()},
		{"entries before unknown groups", anna, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{waiting}, GroupIDs: []int64{99}}, seqlease.ErrState, waiting.String()},
		{"unknown groups", anna, submission.ApproveRequest{GroupIDs: []int64{98, h.group, 99}}, seqlease.ErrNotFound, "groups 98, 99"},
		{"unknown groups with names", anna, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{clean}, GroupIDs: []int64{99}}, seqlease.ErrNotFound, "there is no group 99"},
		{"groups of others", bert, submission.ApproveRequest{GroupIDs: []int64{h.group}}, seqlease.ErrForbidden, `"bert" is not a member of group 1`},
		{"an accession that nobody can have", anna, submission.ApproveRequest{Entries: []seqlease.AccessionVersion{{Accession: "A\x00", Version: 1}}}, nil, `"A\x00"`},
		{"a submitter that nobody can be", anna, submission.ApproveRequest{Submitters: []string{"\xff"}}, nil, `"\xff"`},
		{"unknown scope", anna, submission.ApproveRequest{Scope: "EVERYTHING"}, nil, `"EVERYTHING"`},
		{"unknown organism", anna, submission.ApproveRequest{Organism: "fern"}, seqlease.ErrUnknownOrganism, "fern"},
		{"entries of another organism", anna, submission.ApproveRequest{Organism: "other", Entries: []seqlease.AccessionVersion{clean}}, seqlease.ErrState, "is of organism zika"},
	}
	for _, tc := range tests {
		if tc.request.Scope == "" {
			tc.request.Scope = seqlease.ApproveAll
		}
		if tc.request.Organism == "" {
			tc.request.Organism = zika
		}
		got, err := h.Approve(t.Context(), tc.person, tc.request)
		var invalid *seqlease.InvalidError
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || tc.is == nil && !errors.As(err, &invalid) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v and error %v, want an error that says %q", tc.name, got, err, tc.says)
		}
	}
	if _, counts := h.list(t, root, submission.ListRequest{Organism: zika}); counts.Statuses[seqlease.ApprovedForRelease] != 0 {
		t.Errorf("something was released: %v", counts)
	}
}
