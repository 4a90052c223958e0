package submission

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// MaxUserName is the most characters of a user's name, as for the texts of groups.
const MaxUserName = 255

// AddMember makes a user a member of a group. Errors, in this order: a
// [*seqlease.InvalidError] for a name that nobody can have; [seqlease.ErrNotFound]
// if no such user is known or the group doesn't exist;
// [seqlease.ErrForbidden]; [seqlease.ErrConflict] if the user is a member.
func (s *Submissions) AddMember(ctx context.Context, p seqlease.Person, group int64, user string) error {
	if err := checkUserName(user); err != nil {
		return err
	}
	if err := s.mustKnow(ctx, user); err != nil {
		return err
	}
	if err := s.store.AddMember(ctx, group, user, actor(p)); err != nil {
		return fmt.Errorf("add a member to group %d: %w", group, err)
	}
	return nil
}

// RemoveMember ends the membership of a user, which needn't exist and may be the
// last of the group: from then on only a super user can act for it. Errors, in
// this order: a [*seqlease.InvalidError] for a name that nobody can have;
// [seqlease.ErrNotFound] for the group; [seqlease.ErrForbidden].
func (s *Submissions) RemoveMember(ctx context.Context, p seqlease.Person, group int64, user string) error {
	if err := checkUserName(user); err != nil {
		return err
	}
	if err := s.store.RemoveMember(ctx, group, user, actor(p)); err != nil {
		return fmt.Errorf("remove a member of group %d: %w", group, err)
	}
	return nil
}

func checkUserName(name string) error {
	switch {
	case name == "":
		return seqlease.InvalidParameter("name", "name is empty: give the name of a user")
	case !seqlease.IsStorable(name):
		return seqlease.InvalidParameter("name", "name has a NUL character or broken UTF-8 in it: no user can be called so")
	case utf8.RuneCountInString(name) > MaxUserName:
		return seqlease.InvalidParameter("name", "name may have at most "+strconv.Itoa(MaxUserName)+" characters")
	default:
		return nil
	}
}

// mustKnow returns [seqlease.ErrNotFound] for a user whom neither the listed tokens
// nor the identity provider, if there is one, know, and [seqlease.ErrBusy] if it
// can't be asked.
func (s *Submissions) mustKnow(ctx context.Context, user string) error {
	if s.options.KnowsUser == nil {
		return nil
	}
	known, err := s.options.KnowsUser(ctx, user)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, seqlease.ErrBusy)):
		return fmt.Errorf("ask the identity provider for a user: %w", err)
	case err != nil:
		return fmt.Errorf("ask the identity provider for a user: %w: %w", seqlease.ErrBusy, err)
	case !known:
		return seqlease.Explain(seqlease.ErrNotFound,
			"there is no user %q: check the spelling, or have the account made first", user)
	default:
		return nil
	}
}
