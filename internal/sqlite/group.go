package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// CreateGroup stores a group with its creator as the first member.
func (s *Store) CreateGroup(ctx context.Context, g seqlease.NewGroup, creator string) (seqlease.Group, error) {
	group := seqlease.Group{NewGroup: g}
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		if err := t.row(ctx, "create_group", groupArguments(g), &group.GroupID); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "add_member", named("group_id", group.GroupID, "member", creator)...); err != nil {
			return err
		}
		return noteAction(ctx, t, 0, submission.CreateNote(group, creator))
	})
	if err != nil {
		return seqlease.Group{}, fmt.Errorf("create group: %w", err)
	}
	return group, nil
}

func groupArguments(g seqlease.NewGroup) []any {
	return named("group_name", g.GroupName, "institution", g.Institution, "line1", g.Address.Line1, "line2", g.Address.Line2,
		"city", g.Address.City, "state", g.Address.State, "postal_code", g.Address.PostalCode, "country", g.Address.Country,
		"contact_email", g.ContactEmail)
}

// Group returns a group and its members in order of name, or
// [seqlease.ErrNotFound].
func (s *Store) Group(ctx context.Context, id int64) (seqlease.Group, []string, error) {
	var group seqlease.Group
	var members []string
	err := s.read(ctx, func(t *tx) (err error) {
		if group, err = groupByID(ctx, t, id); err != nil {
			return err
		}
		return t.rows(ctx, "group_members", named("group_id", id), func(scan func(...any) error) error {
			var member string
			err := scan(&member)
			members = append(members, member)
			return err
		})
	})
	if err != nil {
		return seqlease.Group{}, nil, fmt.Errorf("read group %d: %w", id, err)
	}
	return group, members, nil
}

// GroupsOf returns the groups of a member by ascending id; of everybody if
// member is empty.
func (s *Store) GroupsOf(ctx context.Context, member string) ([]seqlease.Group, error) {
	return s.GroupPage(ctx, member, 0, -1)
}

// GroupPage returns groups of a member, or of everybody, by ascending id: those
// after the given one, up to the limit unless it is negative.
func (s *Store) GroupPage(ctx context.Context, member string, after int64, limit int) ([]seqlease.Group, error) {
	statement, args := "groups", named("after", after, "limit", int64(limit))
	if member != "" {
		statement, args = "groups_of_member", append(args, named("member", member)...)
	}
	groups := []seqlease.Group{}
	err := s.readOnce().rows(ctx, statement, args, func(scan func(...any) error) error {
		g, err := scanGroup(scan)
		groups = append(groups, g)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", storeError(err))
	}
	return groups, nil
}

func groupByID(ctx context.Context, t *tx, id int64) (seqlease.Group, error) {
	group, err := scanGroup(func(into ...any) error { return t.row(ctx, "group", named("group_id", id), into...) })
	if errors.Is(err, sql.ErrNoRows) {
		return group, submission.UnknownGroup(id)
	}
	return group, err
}

func scanGroup(scan func(into ...any) error) (seqlease.Group, error) {
	var g seqlease.Group
	err := scan(&g.GroupID, &g.GroupName, &g.Institution, &g.Address.Line1, &g.Address.Line2, &g.Address.City,
		&g.Address.State, &g.Address.PostalCode, &g.Address.Country, &g.ContactEmail)
	return g, err
}
