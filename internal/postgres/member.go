package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_group.sql
var lockGroupSQL string

//go:embed sql/is_member.sql
var isMemberSQL string

//go:embed sql/edit_group.sql
var editGroupSQL string

//go:embed sql/add_member.sql
var addMemberSQL string

//go:embed sql/remove_member.sql
var removeMemberSQL string

//go:embed sql/bump_released.sql
var bumpReleasedSQL string

// EditGroup replaces what is said about a group, as [submission.GroupStore] says.
func (s *Store) EditGroup(ctx context.Context, id int64, g seqlease.NewGroup, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(tx pgx.Tx, stored seqlease.NewGroup) error {
		if stored == g {
			return nil
		}
		arguments := groupArguments(g)
		arguments["id"] = id
		if _, err := tx.Exec(ctx, editGroupSQL, arguments); err != nil {
			return err
		}
		if err := noteAction(ctx, tx, 0, submission.EditNote(id, stored, g, by)); err != nil || stored.GroupName == g.GroupName {
			return err
		}
		// What approvals release meanwhile may show the name, of any organism.
		_, err := tx.Exec(ctx, bumpReleasedSQL, pgx.StrictNamedArgs{"organisms": []int32(nil)})
		return err
	})
	if err != nil {
		return fmt.Errorf("edit group %d: %w", id, err)
	}
	return nil
}

// AddMember makes a user a member of a group, as [submission.GroupStore] says.
func (s *Store) AddMember(ctx context.Context, id int64, user string, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(tx pgx.Tx, _ seqlease.NewGroup) error {
		made, err := tx.Exec(ctx, addMemberSQL, pgx.StrictNamedArgs{"id": id, "user": user})
		if err != nil {
			return err
		}
		if made.RowsAffected() == 0 {
			return submission.AlreadyMember(user, id)
		}
		return noteAction(ctx, tx, 0, seqlease.AuditNote{User: by.Name, Action: seqlease.ActionAddMember, GroupID: id, Detail: user})
	})
	if err != nil {
		return fmt.Errorf("add a member to group %d: %w", id, err)
	}
	return nil
}

// RemoveMember ends a membership, as [submission.GroupStore] says.
func (s *Store) RemoveMember(ctx context.Context, id int64, user string, by submission.Actor) error {
	err := s.changeGroup(ctx, id, by, func(tx pgx.Tx, _ seqlease.NewGroup) error {
		ended, err := tx.Exec(ctx, removeMemberSQL, pgx.StrictNamedArgs{"id": id, "user": user})
		if err != nil || ended.RowsAffected() == 0 {
			return err
		}
		return noteAction(ctx, tx, 0, seqlease.AuditNote{User: by.Name, Action: seqlease.ActionRemoveMember, GroupID: id, Detail: user})
	})
	if err != nil {
		return fmt.Errorf("remove a member of group %d: %w", id, err)
	}
	return nil
}

// changeGroup runs f, which is given the group, in a transaction that has the group
// locked and in which the actor may act for it.
func (s *Store) changeGroup(ctx context.Context, id int64, by submission.Actor, f func(tx pgx.Tx, stored seqlease.NewGroup) error) error {
	return s.retry(ctx, func() error {
		return s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
			var g seqlease.Group
			err := tx.QueryRow(ctx, lockGroupSQL, pgx.StrictNamedArgs{"id": id}).Scan(groupFields(&g)...)
			if errors.Is(err, pgx.ErrNoRows) {
				return submission.UnknownGroup(id)
			}
			if err != nil {
				return err
			}
			may := by.AnyGroup
			if !may {
				if err := tx.QueryRow(ctx, isMemberSQL, pgx.StrictNamedArgs{"id": id, "user": by.Name}).Scan(&may); err != nil {
					return err
				}
			}
			if !may {
				return submission.NotMember(by.Name, id)
			}
			return f(tx, g.NewGroup)
		})
	})
}
