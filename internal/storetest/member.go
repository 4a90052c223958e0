package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func memberCases() []testCase {
	return []testCase{
		{name: "Group_PagesAscend", check: groupPages},
		{name: "Group_EditReplacesEverything", check: groupEdit},
		{name: "Group_UnknownBeforeForbidden", check: groupOrderOfChecks},
		{name: "Group_NewNameChangesTheReleasedMarkOfEveryOrganism", check: groupNameMark},
		{name: "Group_ExportersNeverMissANewName", check: groupNameAgainstExport},
		{name: "Member_AddedOnce", check: memberAdd},
		{name: "Member_AddedAtOnceByManyIsAddedByOne", check: memberAddAtOnce},
		{name: "Member_RemovedAlsoTheLast", check: memberRemove},
		{name: "Member_OfTwoWhoRemoveEachOtherAtOnceOneStays", check: memberRemoveEachOther},
	}
}

// actingAs is a user who acts as a member, and superUser one who needn't be one.
func actingAs(name string) submission.Actor { return submission.Actor{Name: name} }

var superUser = submission.Actor{Name: "root", AnyGroup: true}

// wantMembers checks who is in the group, in order of name.
func (f *fixture) wantMembers(t *testing.T, id int64, want ...string) {
	t.Helper()
	_, members, err := f.Group(t.Context(), id)
	if err != nil {
		t.Fatalf("read group %d: %v", id, err)
	}
	wantSame(t, "members", members, want)
}

func groupPages(t *testing.T, h Harness) {
	f := newFixture(t, h)
	all := []seqlease.Group{f.group}
	for i := range 6 {
		all = append(all, f.newGroup(t, fmt.Sprintf("Group %d", 9-i), []string{"bert", submitter}[i%2]))
	}
	own := []seqlease.Group{f.group, all[2], all[4], all[6]}
	for member, want := range map[string][]seqlease.Group{"": all, submitter: own, "nobody": nil} {
		for limit := 1; limit <= len(all)+1; limit++ {
			var got []seqlease.Group
			for after := int64(0); ; {
				page, err := f.GroupPage(t.Context(), member, after, limit)
				if err != nil {
					t.Fatalf("groups of %q after %d: %v", member, after, err)
				}
				got = append(got, page...)
				if len(page) < limit {
					break
				}
				after = page[len(page)-1].GroupID
			}
			wantSame(t, fmt.Sprintf("groups of %q, %d at a time", member, limit), got, want)
		}
	}
}

func groupEdit(t *testing.T, h Harness) {
	f := newFixture(t, h)
	other := f.newGroup(t, "Other", submitter)
	edited := seqlease.NewGroup{
		GroupName: "Institut für Virologie", Institution: "Fundação", ContactEmail: "new@example.org",
		Address: seqlease.Address{
			Line1: "Rua 1", Line2: "Sala 2", City: "Natal", State: "Rio Grande do Norte", PostalCode: "59000-000", Country: "Brazil",
		},
	}
	for _, actor := range []submission.Actor{actingAs(submitter), superUser} {
		if err := f.EditGroup(t.Context(), f.group.GroupID, edited, actor); err != nil {
			t.Fatalf("edit as %s: %v", actor.Name, err)
		}
		group, members, err := f.Group(t.Context(), f.group.GroupID)
		if err != nil {
			t.Fatalf("read group: %v", err)
		}
		wantSame(t, "group", group, seqlease.Group{GroupID: f.group.GroupID, NewGroup: edited})
		wantSame(t, "members", members, []string{submitter})
		edited = seqlease.NewGroup{} // empty texts are texts, too
	}
	group, _, err := f.Group(t.Context(), other.GroupID)
	if err != nil {
		t.Fatalf("read the other group: %v", err)
	}
	wantSame(t, "other group", group, other)
}

func groupOrderOfChecks(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for name, change := range map[string]func(id int64, actor submission.Actor) error{
		"edit": func(id int64, actor submission.Actor) error {
			return f.EditGroup(t.Context(), id, seqlease.NewGroup{GroupName: "X"}, actor)
		},
		"add":    func(id int64, actor submission.Actor) error { return f.AddMember(t.Context(), id, submitter, actor) },
		"remove": func(id int64, actor submission.Actor) error { return f.RemoveMember(t.Context(), id, submitter, actor) },
	} {
		for _, id := range []int64{0, -1, 4711, 1 << 40} {
			if err := change(id, superUser); !errors.Is(err, seqlease.ErrNotFound) {
				t.Errorf("%s, group %d: got %v", name, id, err)
			}
			if err := change(id, actingAs("bert")); !errors.Is(err, seqlease.ErrNotFound) {
				t.Errorf("%s, group %d, as a stranger: got %v", name, id, err)
			}
		}
		for _, stranger := range []string{"bert", "Anna", ""} {
			if err := change(f.group.GroupID, actingAs(stranger)); !errors.Is(err, seqlease.ErrForbidden) {
				t.Errorf("%s as %q: got %v", name, stranger, err)
			}
		}
	}
	group, members, err := f.Group(t.Context(), f.group.GroupID)
	if err != nil {
		t.Fatalf("read group: %v", err)
	}
	wantSame(t, "group", group, f.group)
	wantSame(t, "members", members, []string{submitter})
}

// markOf reads the mark of what is released of the organism.
func (f *fixture) markOf(t *testing.T, o seqlease.Organism) string {
	t.Helper()
	mark, err := f.ReleasedMark(t.Context(), o)
	if err != nil {
		t.Fatalf("released mark of %s: %v", o, err)
	}
	return mark
}

func groupNameMark(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	last := map[seqlease.Organism]string{WestNile: f.markOf(t, WestNile), CCHF: f.markOf(t, CCHF)}
	edited := f.group.NewGroup
	for i := range 12 { // past ten, where unpadded numbers stop to rise as text
		edited.GroupName = fmt.Sprintf("Name %d", i)
		if err := f.EditGroup(t.Context(), f.group.GroupID, edited, actingAs(submitter)); err != nil {
			t.Fatalf("rename: %v", err)
		}
		for o, mark := range last {
			if last[o] = f.markOf(t, o); last[o] <= mark {
				t.Errorf("%s: the mark %q doesn't rise over %q", o, last[o], mark)
			}
		}
		_, released := f.released(t)
		wantSame(t, "released name", released[0].GroupName, edited.GroupName)
	}
	edited.Institution = "Elsewhere" // isn't in released data
	if err := f.EditGroup(t.Context(), f.group.GroupID, edited, actingAs(submitter)); err != nil {
		t.Fatalf("edit: %v", err)
	}
	if err := f.AddMember(t.Context(), f.group.GroupID, "bert", actingAs(submitter)); err != nil {
		t.Fatalf("add a member: %v", err)
	}
	for o, mark := range last {
		wantSame(t, "mark of "+string(o), f.markOf(t, o), mark)
	}
}

// groupNameAgainstExport: whatever the order, what is read under one mark is one
// name, and in the end the mark is that of the last name.
func groupNameAgainstExport(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.process(t, seqlease.NoIssues)
	f.approveAll(t)
	renamed := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 40 && err == nil; i++ {
			err = f.EditGroup(context.WithoutCancel(t.Context()), f.group.GroupID, seqlease.NewGroup{GroupName: fmt.Sprintf("Name %d", i)}, superUser)
		}
		renamed <- err
	}()
	nameUnder := map[string]string{}
	for done := false; !done; {
		select {
		case err := <-renamed:
			if err != nil {
				t.Fatalf("rename: %v", err)
			}
			done = true // one more look
		default:
		}
		head, released := f.released(t)
		if name, seen := nameUnder[head.Mark]; seen && name != released[0].GroupName {
			t.Errorf("the mark %s stands for %q and for %q", head.Mark, name, released[0].GroupName)
		}
		nameUnder[head.Mark] = released[0].GroupName
	}
	wantSame(t, "name under the last mark", nameUnder[f.markOf(t, WestNile)], "Name 39")
}

func memberAdd(t *testing.T, h Harness) {
	f := newFixture(t, h)
	id := f.group.GroupID
	names := []string{"bert", "Bert", "bért", "a/b", "..", "%", " ", "'; DROP TABLE entry; --", "张伟", "e\u0301"}
	for i, name := range names {
		actor := []submission.Actor{actingAs(submitter), superUser}[i%2]
		if err := f.AddMember(t.Context(), id, name, actor); err != nil {
			t.Errorf("add %q: %v", name, err)
		}
		wantError(t, f.AddMember(t.Context(), id, name, actor), seqlease.ErrConflict)
	}
	f.wantMembers(t, id, slices.Sorted(slices.Values(append(names, submitter)))...)
	if err := f.AddMember(t.Context(), id, "carla", actingAs("bert")); err != nil {
		t.Errorf("add as a member who was added: %v", err)
	}
	groups, err := f.GroupsOf(t.Context(), "carla")
	if err != nil {
		t.Fatalf("groups of carla: %v", err)
	}
	wantSame(t, "groups of carla", groups, []seqlease.Group{f.group})
}

func memberAddAtOnce(t *testing.T, h Harness) {
	f := newFixture(t, h)
	answers := make(chan error, 6)
	for range cap(answers) {
		go func() { answers <- f.AddMember(t.Context(), f.group.GroupID, "bert", actingAs(submitter)) }()
	}
	added := 0
	for range cap(answers) {
		if err := <-answers; err == nil {
			added++
		} else {
			wantError(t, err, seqlease.ErrConflict)
		}
	}
	wantSame(t, "how often the user was added", added, 1)
	f.wantMembers(t, f.group.GroupID, submitter, "bert")
}

func memberRemove(t *testing.T, h Harness) {
	f := newFixture(t, h)
	id := f.group.GroupID
	if err := f.AddMember(t.Context(), id, "bert", actingAs(submitter)); err != nil {
		t.Fatalf("add: %v", err)
	}
	for _, name := range []string{"nobody", "Anna", "bert", "bert"} {
		if err := f.RemoveMember(t.Context(), id, name, actingAs(submitter)); err != nil {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	f.wantMembers(t, id, submitter)
	if err := f.RemoveMember(t.Context(), id, submitter, actingAs(submitter)); err != nil {
		t.Errorf("the last member leaves: %v", err)
	}
	f.wantMembers(t, id)
	wantError(t, f.AddMember(t.Context(), id, submitter, actingAs(submitter)), seqlease.ErrForbidden)
	if err := f.AddMember(t.Context(), id, submitter, superUser); err != nil {
		t.Errorf("a super user brings a member back: %v", err)
	}
	f.wantMembers(t, id, submitter)
}

func memberRemoveEachOther(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for round := range 10 {
		pair := [2]string{fmt.Sprintf("x%d", round), fmt.Sprintf("y%d", round)}
		id := f.newGroup(t, "Group", pair[0]).GroupID
		if err := f.AddMember(t.Context(), id, pair[1], actingAs(pair[0])); err != nil {
			t.Fatalf("add: %v", err)
		}
		other := make(chan error, 1)
		go func() { other <- f.RemoveMember(t.Context(), id, pair[0], actingAs(pair[1])) }()
		errs := [2]error{f.RemoveMember(t.Context(), id, pair[1], actingAs(pair[0])), <-other}
		for i, err := range errs {
			if err == nil {
				f.wantMembers(t, id, pair[i])
				wantError(t, errs[1-i], seqlease.ErrForbidden)
			}
		}
		if errs[0] != nil && errs[1] != nil {
			t.Errorf("round %d: neither was removed: %v, %v", round, errs[0], errs[1])
		}
	}
}
