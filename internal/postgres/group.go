package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/create_group.sql
var createGroupSQL string

//go:embed sql/group.sql
var groupSQL string

//go:embed sql/groups.sql
var groupsSQL string

//go:embed sql/groups_of.sql
var groupsOfSQL string

// CreateGroup stores a group with its creator as the first member.
func (s *Store) CreateGroup(ctx context.Context, g seqlease.NewGroup, creator string) (seqlease.Group, error) {
	made := seqlease.Group{NewGroup: g}
	err := s.retry(ctx, func() error {
		return s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
			arguments := groupArguments(g)
			arguments["creator"] = creator
			if err := tx.QueryRow(ctx, createGroupSQL, arguments).Scan(&made.GroupID); err != nil {
				return err
			}
			return noteAction(ctx, tx, 0, submission.CreateNote(made, creator))
		})
	})
	if err != nil {
		return seqlease.Group{}, fmt.Errorf("create a group: %w", err)
	}
	return made, nil
}

func groupArguments(g seqlease.NewGroup) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"group_name": g.GroupName, "institution": g.Institution, "line1": g.Address.Line1, "line2": g.Address.Line2,
		"city": g.Address.City, "state": g.Address.State, "postal_code": g.Address.PostalCode, "country": g.Address.Country,
		"contact_email": g.ContactEmail,
	}
}

// Group returns a group and its members in order of name, or [seqlease.ErrNotFound].
func (s *Store) Group(ctx context.Context, id int64) (seqlease.Group, []string, error) {
	var g seqlease.Group
	var members []string
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, groupSQL, pgx.StrictNamedArgs{"id": id}).Scan(append(groupFields(&g), &members)...)
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = submission.UnknownGroup(id)
	}
	if err != nil {
		return seqlease.Group{}, nil, fmt.Errorf("group %d: %w", id, err)
	}
	return g, members, nil
}

// GroupsOf returns the groups of the member, or all, by ascending id.
func (s *Store) GroupsOf(ctx context.Context, member string) ([]seqlease.Group, error) {
	return s.GroupPage(ctx, member, 0, 0)
}

// GroupPage returns groups of the member, or of all, by ascending id: those after
// the given one, up to the limit if there is one.
func (s *Store) GroupPage(ctx context.Context, member string, after int64, limit int) ([]seqlease.Group, error) {
	text, arguments := groupsSQL, pgx.StrictNamedArgs{"after": after, "count": limit}
	if member != "" {
		text, arguments["member"] = groupsOfSQL, member
	}
	var groups []seqlease.Group
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, text, arguments)
			if err != nil {
				return err
			}
			groups, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g seqlease.Group, err error) {
				err = row.Scan(groupFields(&g)...)
				return g, err
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	return groups, nil
}

// groupFields are where the columns of a group go.
func groupFields(g *seqlease.Group) []any {
	return []any{
		&g.GroupID, &g.GroupName, &g.Institution, &g.Address.Line1, &g.Address.Line2, &g.Address.City, &g.Address.State,
		&g.Address.PostalCode, &g.Address.Country, &g.ContactEmail,
	}
}
