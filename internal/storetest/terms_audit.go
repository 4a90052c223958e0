package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
)

// ChangeGroupsAndTerms changes groups, members and terms on an empty store in every
// way, beside much that changes nothing. It returns what the audit log holds then
// about the actions of [GroupAndTermsActions], a line each: user, action, group,
// organism, entries and detail.
func ChangeGroupsAndTerms(t *testing.T, s Store) []string {
	t.Helper()
	f := newFixtureOn(t, Harness{}, s)
	id := f.group.GroupID
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err, want error) {
		t.Helper()
		wantError(t, err, want)
	}
	must(f.AddMember(t.Context(), id, "bert", actingAs(submitter)))
	refused(f.AddMember(t.Context(), id, "bert", actingAs(submitter)), seqlease.ErrConflict)
	refused(f.AddMember(t.Context(), id, "carla", actingAs("carla")), seqlease.ErrForbidden)
	must(f.RemoveMember(t.Context(), id, "nobody", actingAs(submitter)))
	must(f.RemoveMember(t.Context(), id, submitter, superUser))
	edited := f.group.NewGroup
	must(f.EditGroup(t.Context(), id, edited, actingAs("bert"))) // the same
	edited.Institution = "Elsewhere"
	must(f.EditGroup(t.Context(), id, edited, actingAs("bert")))
	edited.GroupName = "New"
	must(f.EditGroup(t.Context(), id, edited, superUser))
	refused(f.EditGroup(t.Context(), 99, edited, superUser), seqlease.ErrNotFound)

	accessions := f.submitUnder(t, restrictedUntil(5, 6), 2)
	u := f.upload(0)
	u.Organism, u.Entries, u.Terms = CCHF, f.entries(CCHF, 1), restrictedUntil(5, 6)
	accessions = append(accessions, accessionsOf(f.submitUpload(t, u))...)
	must(f.changeTerms(t.Context(), restrictedUntil(4, 1), accessions...))
	must(f.changeTerms(t.Context(), openTerms, accessions[0]))
	refused(f.changeTerms(t.Context(), openTerms, accessions...), seqlease.ErrState)
	return []string{
		"anna|create-group|1||0|Institute of Virology",
		"anna|add-member|1||0|bert",
		"root|remove-member|1||0|anna",
		"bert|edit-group|1||0|",
		`root|edit-group|1||0|renamed from "Institute of Virology" to "New"`,
		"bert|change-data-use-terms|0|cchf|1|RESTRICTED until 2030-04-01",
		"bert|change-data-use-terms|0|west-nile|2|RESTRICTED until 2030-04-01",
		"bert|change-data-use-terms|0|west-nile|1|OPEN",
	}
}

// GroupAndTermsActions are the actions on groups, members and terms.
var GroupAndTermsActions = []string{
	string(seqlease.ActionCreateGroup), string(seqlease.ActionEditGroup), string(seqlease.ActionAddMember), string(seqlease.ActionRemoveMember),
	string(seqlease.ActionDataUseTerms),
}
