package submission_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

func TestGroup_HidesPeopleFromStrangers(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	want := submission.GroupDetails{
		Group: seqlease.Group{GroupID: h.group, NewGroup: seqlease.NewGroup{GroupName: "Anna's group", ContactEmail: "anna@example.org"}},
		Users: []string{"anna"},
	}
	got, err := h.Group(t.Context(), &bert, h.group)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("with a token (-got +want):\n%s", diff)
	}
	want.Group.ContactEmail, want.Users, want.Hidden = "", nil, true
	if got, err = h.Group(t.Context(), nil, h.group); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("without a token (-got +want):\n%s", diff)
	}
	if _, err := h.Group(t.Context(), nil, 99); !errors.Is(err, seqlease.ErrNotFound) {
		t.Errorf("unknown group: got %v, want %v", err, seqlease.ErrNotFound)
	}
}

func TestUserGroups_OwnOrAll(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	if _, err := h.CreateGroup(t.Context(), bert, seqlease.NewGroup{GroupName: "Bert's group"}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		person seqlease.Person
		want   []string
	}{
		{anna, []string{"Anna's group"}},
		{bert, []string{"Bert's group"}},
		{root, []string{"Anna's group", "Bert's group"}},
		{pipeline, nil},
	} {
		groups, err := h.UserGroups(t.Context(), tc.person)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range groups {
			got = append(got, g.GroupName)
		}
		if diff := cmp.Diff(got, tc.want); diff != "" {
			t.Errorf("groups of %s (-got +want):\n%s", tc.person.Name, diff)
		}
	}
}

func TestCreateGroup_NamesTextsThatCanNotBeKept(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	longest := strings.Repeat("é", submission.MaxGroupText)
	if _, err := h.CreateGroup(t.Context(), anna, seqlease.NewGroup{Institution: longest}); err != nil {
		t.Errorf("%d characters: %v", submission.MaxGroupText, err)
	}
	_, err := h.CreateGroup(t.Context(), anna, seqlease.NewGroup{
		GroupName: "a\x00", Institution: longest + "x", Address: seqlease.Address{City: "\xff"},
	})
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, want an InvalidError", err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.Field)
	}
	if diff := cmp.Diff(got, []string{"groupName", "institution", "address.city"}); diff != "" {
		t.Errorf("fields (-got +want):\n%s", diff)
	}
}
