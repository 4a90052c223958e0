package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
)

func groupCases() []testCase {
	return []testCase{
		{name: "Group_CreatorIsTheFirstMember", check: groupCreator},
		{name: "Group_UnknownGroupIsNotFound", check: groupUnknown},
		{name: "Group_GroupsOfAMemberAscend", check: groupOfMember},
		{name: "Group_GroupsOfEntries", check: groupOfEntries},
	}
}

func groupCreator(t *testing.T, h Harness) {
	f := newFixture(t, h)
	in := seqlease.NewGroup{
		GroupName: "Laboratório Central", Institution: "Fundação", ContactEmail: "lab@example.org",
		Address: seqlease.Address{
			Line1: "Rua 1", Line2: "Sala 2", City: "Natal", State: "Rio Grande do Norte", PostalCode: "59000-000", Country: "Brazil",
		},
	}
	created, err := f.CreateGroup(t.Context(), in, "carla")
	if err != nil {
		t.Fatalf("create group: %v", err)
	}
	wantSame(t, "created group", created.NewGroup, in)
	read, members, err := f.Group(t.Context(), created.GroupID)
	if err != nil {
		t.Fatalf("read group: %v", err)
	}
	wantSame(t, "group", read, created)
	wantSame(t, "members", members, []string{"carla"})

	empty, err := f.CreateGroup(t.Context(), seqlease.NewGroup{}, "carla")
	if err != nil {
		t.Fatalf("create a group of empty texts: %v", err)
	}
	read, _, err = f.Group(t.Context(), empty.GroupID)
	if err != nil {
		t.Fatalf("read a group of empty texts: %v", err)
	}
	wantSame(t, "group of empty texts", read, empty)
}

func groupUnknown(t *testing.T, h Harness) {
	f := newFixture(t, h)
	for _, id := range []int64{0, -1, 4711, 1 << 40} {
		_, _, err := f.Group(t.Context(), id)
		wantError(t, err, seqlease.ErrNotFound)
	}
}

func groupOfMember(t *testing.T, h Harness) {
	f := newFixture(t, h)
	second, third := f.newGroup(t, "Z", "bert"), f.newGroup(t, "A", submitter)
	wantSame(t, "first group id", f.group.GroupID, 1)
	for member, want := range map[string][]seqlease.Group{
		submitter: {f.group, third},
		"bert":    {second},
		"Bert":    nil,
		"nobody":  nil,
		"":        {f.group, second, third},
	} {
		got, err := f.GroupsOf(t.Context(), member)
		if err != nil {
			t.Fatalf("groups of %q: %v", member, err)
		}
		wantSame(t, "groups of "+member, got, want)
	}
}

func groupOfEntries(t *testing.T, h Harness) {
	f := newFixture(t, h)
	nile := f.submit(t, 1)
	other := f.newGroup(t, "Z", "bert")
	u := f.upload(1)
	u.Organism, u.GroupID = CCHF, other.GroupID
	cchf := f.submitUpload(t, u)
	missing := []seqlease.AccessionVersion{
		{Accession: nile[0].Accession, Version: 2}, {Accession: "nothing", Version: 1},
	}
	groups, err := f.GroupsOfEntries(t.Context(), append(missing, cchf[0], nile[0], nile[0]))
	if err != nil {
		t.Fatalf("groups of entries: %v", err)
	}
	wantSame(t, "groups", groups, map[seqlease.AccessionVersion]int64{nile[0]: f.group.GroupID, cchf[0]: other.GroupID})
	groups, err = f.GroupsOfEntries(t.Context(), nil)
	if err != nil {
		t.Fatalf("groups of no entries: %v", err)
	}
	wantSame(t, "groups of no entries", groups, nil)
}
