package submission

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// MaxGroupText is the most characters of each text of a group.
const MaxGroupText = 255

// GroupStore is what groups need of storage besides what every room does. What
// changes a group tests under the group's lock that it exists ([UnknownGroup]) and
// that the actor may act for it ([NotMember]), in this order.
type GroupStore interface {
	// GroupPage returns up to limit groups of a member, or of everybody if member is
	// empty, by ascending id: those whose id is above after.
	GroupPage(ctx context.Context, member string, after int64, limit int) ([]seqlease.Group, error)
	// EditGroup replaces what is said about a group. A new name changes the mark of
	// what is released, of every organism.
	EditGroup(ctx context.Context, id int64, g seqlease.NewGroup, by Actor) error
	// AddMember makes a user a member; [AlreadyMember] if they are one.
	AddMember(ctx context.Context, id int64, user string, by Actor) error
	// RemoveMember ends a membership, also the last of a group. It does nothing for a
	// user who is no member.
	RemoveMember(ctx context.Context, id int64, user string, by Actor) error
}

// Actor is who changes something of a group.
type Actor struct {
	Name     string
	AnyGroup bool // needn't be a member: a super user
}

func actor(p seqlease.Person) Actor { return Actor{Name: p.Name, AnyGroup: p.Has(seqlease.SuperUser)} }

// CreateNote and EditNote are what the audit log keeps of a group that was created,
// with its name, or edited: its former name if that was changed.
func CreateNote(g seqlease.Group, creator string) seqlease.AuditNote {
	return seqlease.AuditNote{User: creator, Action: seqlease.ActionCreateGroup, GroupID: g.GroupID, Detail: g.GroupName}
}

// EditNote is described at [CreateNote].
func EditNote(id int64, from, to seqlease.NewGroup, by Actor) seqlease.AuditNote {
	note := seqlease.AuditNote{User: by.Name, Action: seqlease.ActionEditGroup, GroupID: id}
	if from.GroupName != to.GroupName {
		note.Detail = fmt.Sprintf("renamed from %q to %q", from.GroupName, to.GroupName)
	}
	return note
}

// UnknownGroup is what is answered for a group that doesn't exist.
func UnknownGroup(id int64) error {
	return seqlease.Explain(seqlease.ErrNotFound, "there is no group %d: create a group, or name one that you are a member of", id)
}

// GroupDetails is a group as a person may see it.
type GroupDetails struct {
	Group seqlease.Group
	Users []string // the members in order of name
	// Hidden: who asks has no token, so the contact e-mail and the users are left out.
	Hidden bool
}

// CreateGroup stores a group with the person as its first member. A text that is
// too long or can't be stored is a [*seqlease.InvalidError] that names it.
func (s *Submissions) CreateGroup(ctx context.Context, p seqlease.Person, g seqlease.NewGroup) (seqlease.Group, error) {
	if err := checkGroup(g); err != nil {
		return seqlease.Group{}, err
	}
	created, err := s.store.CreateGroup(ctx, g, p.Name)
	if err != nil {
		return seqlease.Group{}, fmt.Errorf("create group: %w", err)
	}
	return created, nil
}

// EditGroup replaces what is said about a group and returns it. Errors, in this
// order: a [*seqlease.InvalidError] as for CreateGroup; [seqlease.ErrNotFound] if
// the person isn't known to the identity provider or the group doesn't exist;
// [seqlease.ErrForbidden].
func (s *Submissions) EditGroup(ctx context.Context, p seqlease.Person, id int64, g seqlease.NewGroup) (seqlease.Group, error) {
	if err := checkGroup(g); err != nil {
		return seqlease.Group{}, err
	}
	if err := s.mustKnow(ctx, p.Name); err != nil {
		return seqlease.Group{}, err
	}
	if err := s.store.EditGroup(ctx, id, g, actor(p)); err != nil {
		return seqlease.Group{}, fmt.Errorf("edit group %d: %w", id, err)
	}
	return seqlease.Group{GroupID: id, NewGroup: g}, nil
}

func checkGroup(g seqlease.NewGroup) error {
	invalid := &seqlease.InvalidError{Kind: seqlease.InvalidRequest}
	for _, text := range []struct{ name, value string }{
		{"groupName", g.GroupName},
		{"institution", g.Institution},
		{"address.line1", g.Address.Line1},
		{"address.line2", g.Address.Line2},
		{"address.city", g.Address.City},
		{"address.state", g.Address.State},
		{"address.postalCode", g.Address.PostalCode},
		{"address.country", g.Address.Country},
		{"contactEmail", g.ContactEmail},
	} {
		switch {
		case !seqlease.IsStorable(text.value):
			invalid.Add(seqlease.Problem{Field: text.name, Message: text.name + " has a NUL character or broken UTF-8 in it, which can't be stored"})
		case utf8.RuneCountInString(text.value) > MaxGroupText:
			invalid.Add(seqlease.Problem{Field: text.name, Message: text.name + " may have at most " + strconv.Itoa(MaxGroupText) + " characters"})
		}
	}
	return invalid.OrNil()
}

// Group returns a group, or [seqlease.ErrNotFound]. p is nil for somebody
// without a token, who doesn't see the contact e-mail and the users.
func (s *Submissions) Group(ctx context.Context, p *seqlease.Person, id int64) (GroupDetails, error) {
	group, users, err := s.store.Group(ctx, id)
	if err != nil {
		return GroupDetails{}, fmt.Errorf("group %d: %w", id, err)
	}
	if p == nil {
		group.ContactEmail = ""
		return GroupDetails{Group: group, Hidden: true}, nil
	}
	return GroupDetails{Group: group, Users: users}, nil
}

// visibleGroups is the group filter of the protocol. Groups that are asked for
// must all exist ([seqlease.ErrNotFound] lists the others) and the person must
// be able to act for each ([seqlease.ErrForbidden]). With none asked for (nil)
// a super user sees all, which nil stands for, and others see their own.
func (s *Submissions) visibleGroups(ctx context.Context, p seqlease.Person, asked []int64) ([]int64, error) {
	if asked == nil {
		if p.Has(seqlease.SuperUser) {
			return nil, nil
		}
		own, err := s.store.GroupsOf(ctx, p.Name)
		if err != nil {
			return nil, fmt.Errorf("groups of %q: %w", p.Name, err)
		}
		return ids(own), nil
	}
	unknown, err := s.unknownGroups(ctx, asked)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		if len(unknown) == 1 {
			return nil, UnknownGroup(unknown[0])
		}
		return nil, seqlease.Explain(seqlease.ErrNotFound, "there are no groups %s: name groups that you are a member of", listIDs(unknown))
	}
	if p.Has(seqlease.SuperUser) {
		return asked, nil
	}
	own, err := s.store.GroupsOf(ctx, p.Name)
	if err != nil {
		return nil, fmt.Errorf("groups of %q: %w", p.Name, err)
	}
	if foreign := without(asked, ids(own)); len(foreign) > 0 {
		return nil, notMember(p, foreign, nil)
	}
	return asked, nil
}

// unknownGroups returns the groups that don't exist, in order and once each.
func (s *Submissions) unknownGroups(ctx context.Context, asked []int64) ([]int64, error) {
	unknown := without(asked, nil)
	for g, err := range s.groups(ctx, "") {
		if err != nil || len(unknown) == 0 {
			return unknown, err
		}
		if i, found := slices.BinarySearch(unknown, g.GroupID); found {
			unknown = slices.Delete(unknown, i, i+1)
		}
	}
	return unknown, nil
}

// NotMember is what is answered to somebody who may not act for a group.
func NotMember(name string, group int64) error {
	return notMember(seqlease.Person{Name: name}, []int64{group}, nil)
}

// AlreadyMember is what is answered when a member of a group is to become one.
func AlreadyMember(user string, group int64) error {
	return seqlease.Explain(seqlease.ErrConflict, "user %q is a member of group %d already", user, group)
}

// notMember is what is answered to a person who may not act for the groups; affected
// are the entries concerned, if any.
func notMember(p seqlease.Person, groups []int64, affected []seqlease.AccessionVersion) error {
	which := ""
	if len(affected) > 0 {
		which = fmt.Sprintf(", which %s %s to", names(affected), plural(len(affected), "belongs", "belong"))
	}
	return seqlease.Explain(seqlease.ErrForbidden, "user %q is not a member of %s %s%s: ask a member to do it",
		p.Name, plural(len(groups), "group", "groups"), listIDs(groups), which)
}

// ids returns the ids of groups; never nil.
func ids(groups []seqlease.Group) []int64 {
	list := make([]int64, len(groups))
	for i, g := range groups {
		list[i] = g.GroupID
	}
	return list
}

// without returns what is in list but not in known, in order and once each.
func without(list, known []int64) []int64 {
	isKnown := make(map[int64]bool, len(known))
	for _, id := range known {
		isKnown[id] = true
	}
	left := slices.DeleteFunc(slices.Sorted(slices.Values(list)), func(id int64) bool { return isKnown[id] })
	return slices.Compact(left)
}

// listIDs lists the first [maxNamed] ids, and how many more there are.
func listIDs(list []int64) string {
	parts := make([]string, 0, maxNamed)
	for _, id := range list[:min(len(list), maxNamed)] {
		parts = append(parts, strconv.FormatInt(id, 10))
	}
	text := strings.Join(parts, ", ")
	if more := len(list) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
