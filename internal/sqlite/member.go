package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// EditGroup replaces what is said about a group, as [submission.GroupStore] says.
func (s *Store) EditGroup(ctx context.Context, id int64, g seqlease.NewGroup, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(ctx context.Context, t *tx, stored seqlease.NewGroup) error {
		if stored == g {
			return nil
		}
		if _, err := t.exec(ctx, "edit_group", append(groupArguments(g), named("group_id", id)...)...); err != nil {
			return err
		}
		if err := noteAction(ctx, t, 0, submission.EditNote(id, stored, g, by)); err != nil || stored.GroupName == g.GroupName {
			return err
		}
		return bumpReleased(ctx, t, nil)
	})
	if err != nil {
		return fmt.Errorf("edit group %d: %w", id, err)
	}
	return nil
}

// bumpReleased notes a change of what is released of some organisms; nil is all.
func bumpReleased(ctx context.Context, t *tx, organismIDs []int64) error {
	_, err := t.exec(ctx, "bump_released", named("organism_ids", orNull(organismIDs, jsonIDs))...)
	return err
}

// AddMember makes a user a member of a group, as [submission.GroupStore] says.
func (s *Store) AddMember(ctx context.Context, id int64, user string, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(ctx context.Context, t *tx, _ seqlease.NewGroup) error {
		made, err := t.exec(ctx, "add_member", named("group_id", id, "member", user)...)
		if err != nil {
			return err
		}
		if made == 0 {
			return submission.AlreadyMember(user, id)
		}
		return noteAction(ctx, t, 0, seqlease.AuditNote{User: by.Name, Action: seqlease.ActionAddMember, GroupID: id, Detail: user})
	})
	if err != nil {
		return fmt.Errorf("add a member to group %d: %w", id, err)
	}
	return nil
}

// RemoveMember ends a membership, as [submission.GroupStore] says.
func (s *Store) RemoveMember(ctx context.Context, id int64, user string, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(ctx context.Context, t *tx, _ seqlease.NewGroup) error {
		ended, err := t.exec(ctx, "remove_member", named("group_id", id, "member", user)...)
		if err != nil || ended == 0 {
			return err
		}
		return noteAction(ctx, t, 0, seqlease.AuditNote{User: by.Name, Action: seqlease.ActionRemoveMember, GroupID: id, Detail: user})
	})
	if err != nil {
		return fmt.Errorf("remove a member of group %d: %w", id, err)
	}
	return nil
}

// changeGroup runs fn, which is given the group, in a write in which the actor may
// act for it.
func (s *Store) changeGroup(ctx context.Context, id int64, by submission.Actor,
	fn func(ctx context.Context, t *tx, stored seqlease.NewGroup) error,
) error {
	return s.write(ctx, func(ctx context.Context, t *tx) error {
		group, err := groupByID(ctx, t, id)
		if err != nil {
			return err
		}
		may := by.AnyGroup
		if !may {
			if err := t.row(ctx, "is_member", named("group_id", id, "member", by.Name), &may); err != nil {
				return err
			}
		}
		if !may {
			return submission.NotMember(by.Name, id)
		}
		return fn(ctx, t, group.NewGroup)
	})
}
