package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/find_gaps.sql
var findGapsSQL string

//go:embed sql/fill_gaps.sql
var fillGapsSQL string

//go:embed sql/lock_ids.sql
var lockIDsSQL string

// candidates are entries that were found by one snapshot, to be locked and tested
// again. The slices are parallel.
type candidates struct {
	ids       []int64
	revisions []int32
	last      int64 // the last id that was looked at, 0 if that was the end
}

// readCandidates reads rows of id, revision and whether it is one, by id.
func readCandidates(rows pgx.Rows) (c candidates, looked int, err error) {
	var id int64
	var revision int32
	var is bool
	_, err = pgx.ForEachRow(rows, []any{&id, &revision, &is}, func() error {
		looked++
		c.last = id
		if is {
			c.ids, c.revisions = append(c.ids, id), append(c.revisions, revision)
		}
		return nil
	})
	return c, looked, err
}

// lock locks those of the candidates that are at their revisions still.
func (c candidates) lock(ctx context.Context, tx pgx.Tx) ([]int64, error) {
	rows, err := tx.Query(ctx, lockIDsSQL, pgx.StrictNamedArgs{"ids": c.ids, "revisions": c.revisions})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// filled is how many tickets were added to a lane.
type filled struct {
	OrganismID int32
	Version    seqlease.PipelineVersion
	Lane       queue.Lane
	Rank       int64
	Tickets    int
}

// Reconcile adds the tickets that are missing (L1, V4), as [queue.KeeperStore]
// says. What one snapshot shows is tested again by a fresh one once the entries
// are locked: from then on nothing but a claim, a result or the end of a lease
// moves them, and each of those keeps an entry in one place.
func (s *Store) Reconcile(ctx context.Context, after int64, limit int) (added int, last int64, err error) {
	var found candidates
	var tickets []filled
	err = s.repeat(ctx, func() error {
		tickets = nil
		return s.change(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, findGapsSQL, pgx.StrictNamedArgs{"after": after, "limit": limit})
			if err != nil {
				return err
			}
			if found, _, err = readCandidates(rows); err != nil || len(found.ids) == 0 {
				return err
			}
			ids, err := found.lock(ctx, tx)
			if err != nil {
				return err
			}
			if rows, err = tx.Query(ctx, fillGapsSQL, pgx.StrictNamedArgs{"ids": ids}); err != nil {
				return err
			}
			tickets, err = pgx.CollectRows(rows, pgx.RowToStructByPos[filled])
			return err
		})
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reconcile entries after %d: %w", after, err)
	}
	for _, t := range tickets {
		added += t.Tickets
		s.moveBack(t.OrganismID, t.Version, t.Lane, t.Rank)
		s.ringFor(t.OrganismID)
	}
	return added, found.last, nil
}
