package submission_test

import (
	"context"
	"errors"
	"iter"
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
		var got []string
		for g, err := range h.UserGroups(t.Context(), tc.person) {
			if err != nil {
				t.Fatal(err)
			}
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

// brokenGroups fails when it is asked for the groups after one of them.
type brokenGroups struct {
	submission.Store
	after int64
}

var errBrokenGroups = errors.New("the disk is on fire")

func (b brokenGroups) GroupPage(ctx context.Context, member string, after int64, limit int) ([]seqlease.Group, error) {
	if after >= b.after {
		return nil, errBrokenGroups
	}
	return b.Store.GroupPage(ctx, member, after, limit)
}

func TestGroups_AnErrorComesLast(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, func(s submission.Store) submission.Store { return brokenGroups{s, 200} })
	for range 250 {
		if _, err := h.CreateGroup(t.Context(), anna, seqlease.NewGroup{GroupName: "Group"}); err != nil {
			t.Fatal(err)
		}
	}
	name := "GROUP"
	for what, list := range map[string]iter.Seq2[seqlease.Group, error]{
		"all": h.Groups(t.Context(), nil), "named": h.Groups(t.Context(), &name), "of anna": h.UserGroups(t.Context(), anna),
	} {
		var failed error
		n := 0
		for _, err := range list {
			if failed != nil {
				t.Errorf("%s: something comes after the error", what)
			}
			if failed = err; err == nil {
				n++
			}
		}
		if !errors.Is(failed, errBrokenGroups) || n < 199 || n > 200 {
			t.Errorf("%s: %d groups and %v", what, n, failed)
		}
		for _, err := range list {
			if err != nil {
				t.Error(err)
			}
			break // whoever has seen enough asks for no more
		}
	}
}

func TestMembers_RefusalsHaveTheirSentinels(t *testing.T) {
	t.Parallel()
	h := open(t, submission.TermsOptions{}, nil)
	ctx := t.Context()
	for _, tc := range []struct {
		name string
		call error
		want error
	}{
		{"an unknown user", h.AddMember(ctx, bert, 99, "nobody"), seqlease.ErrNotFound},
		{"an empty name", h.RemoveMember(ctx, anna, h.group, ""), nil},
		{"a stranger", h.AddMember(ctx, bert, h.group, "bert"), seqlease.ErrForbidden},
		{"a member", h.AddMember(ctx, anna, h.group, "anna"), seqlease.ErrConflict},
	} {
		var invalid *seqlease.InvalidError
		if tc.want != nil && !errors.Is(tc.call, tc.want) || tc.want == nil && !errors.As(tc.call, &invalid) {
			t.Errorf("%s: got %v, want %v", tc.name, tc.call, tc.want)
		}
	}
}
