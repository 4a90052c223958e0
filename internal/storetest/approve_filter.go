package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func approveFilterCases() []testCase {
	return []testCase{
		{name: "Approve_ScopeWithoutWarnings", check: approveScope},
		{name: "Approve_Filters", check: approveFilters},
		{name: "Approve_OtherFiltersDoNotNarrowTheChecks", check: approveChecksNotNarrowed},
		{name: "Approve_OrganismsApart", check: approveOrganismsApart},
	}
}

func approveScope(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.HasWarnings, seqlease.NoIssues, seqlease.HasErrors)
	a := approval()
	a.Scope = seqlease.ApproveWithoutWarnings
	f.wantApproved(t, "without warnings", a, versions[1])
	a.Entries = versions[:1]
	f.wantApproved(t, "a named entry with warnings, without warnings", a)
	a.Scope = seqlease.ApproveAll
	f.wantApproved(t, "a named entry with warnings", a, versions[0])
}

// twoGroups processes four entries: of anna and bert in the fixture's group, of
// anna and bert in another group.
func (f *fixture) twoGroups(t *testing.T) (groups [2]int64, versions []seqlease.AccessionVersion) {
	t.Helper()
	groups = [2]int64{f.group.GroupID, f.newGroup(t, "Public Health Agency", "bert").GroupID}
	for _, group := range groups {
		for _, name := range []string{"anna", "bert"} {
			u := f.upload(1)
			u.GroupID, u.Submitter = group, name
			versions = append(versions, f.submitUpload(t, u)...)
		}
	}
	f.mustAccept(t, f.lines(t, f.claim(t, len(versions)))...)
	return groups, versions
}

func approveFilters(t *testing.T, h Harness) {
	for _, c := range []struct {
		name   string
		filter func(a *submission.Approval, groups [2]int64, versions []seqlease.AccessionVersion)
		want   []int
	}{
		{"no filter", func(*submission.Approval, [2]int64, []seqlease.AccessionVersion) {}, []int{0, 1, 2, 3}},
		{"a group", func(a *submission.Approval, g [2]int64, _ []seqlease.AccessionVersion) {
			a.GroupIDs = g[1:]
		}, []int{2, 3}},
		{"both groups and one that doesn't exist", func(a *submission.Approval, g [2]int64, _ []seqlease.AccessionVersion) {
			a.GroupIDs = []int64{g[1], 4711, g[0]}
		}, []int{0, 1, 2, 3}},
		{"no group at all", func(a *submission.Approval, _ [2]int64, _ []seqlease.AccessionVersion) {
			a.GroupIDs = []int64{}
		}, nil},
		{"a submitter", func(a *submission.Approval, _ [2]int64, _ []seqlease.AccessionVersion) {
			a.Submitters = []string{"bert"}
		}, []int{1, 3}},
		{"a submitter in other letters", func(a *submission.Approval, _ [2]int64, _ []seqlease.AccessionVersion) {
			a.Submitters = []string{"Bert", "bert "}
		}, nil},
		{"no submitter at all", func(a *submission.Approval, _ [2]int64, _ []seqlease.AccessionVersion) {
			a.Submitters = []string{}
		}, nil},
		{"a group and a submitter", func(a *submission.Approval, g [2]int64, _ []seqlease.AccessionVersion) {
			a.GroupIDs, a.Submitters = g[:1], []string{"anna"}
		}, []int{0}},
		{"named entries", func(a *submission.Approval, _ [2]int64, v []seqlease.AccessionVersion) {
			a.Entries = []seqlease.AccessionVersion{v[3], v[0], v[3]}
		}, []int{0, 3}},
		{"no named entry at all", func(a *submission.Approval, _ [2]int64, _ []seqlease.AccessionVersion) {
			a.Entries = []seqlease.AccessionVersion{}
		}, nil},
		{"named entries in a group", func(a *submission.Approval, g [2]int64, v []seqlease.AccessionVersion) {
			a.Entries, a.GroupIDs = v[:3], g[1:]
		}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, h)
			groups, versions := f.twoGroups(t)
			a := approval()
			c.filter(&a, groups, versions)
			var want []seqlease.AccessionVersion
			for _, i := range c.want {
				want = append(want, versions[i])
			}
			f.wantApproved(t, c.name, a, want...)
			_, released := f.released(t)
			wantSame(t, "released entries", len(released), len(want))
		})
	}
}

func approveChecksNotNarrowed(t *testing.T, h Harness) {
	f := newFixture(t, h)
	_, versions := f.twoGroups(t)
	waiting := f.submit(t, 1)
	a := approval(versions[0], waiting[0])
	a.Submitters = []string{"bert"} // takes neither
	_, err := f.Approve(t.Context(), a)
	wantStateError(t, err, submission.StateError{WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{waiting[0]: seqlease.Received}})
}

func approveOrganismsApart(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.process(t, seqlease.NoIssues)
	a := approval()
	a.Organism = CCHF
	f.wantApproved(t, "of "+string(CCHF), a)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: 1})
	f.wantApproved(t, "of "+string(WestNile), approval(), versions...)
	_, released := f.releasedOf(t, CCHF)
	wantSame(t, "released of "+string(CCHF), len(released), 0)
}
