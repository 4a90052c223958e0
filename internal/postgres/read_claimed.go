package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/read_claimed.sql
var readClaimedSQL string

var readClaimedStatement = numbered("read_claimed", readClaimedSQL)

// ReadClaimed returns a page of a claim's entries by their places as claimed, as
// [queue.Store] says.
func (s *Store) ReadClaimed(ctx context.Context, id seqlease.AttemptID, skip, limit int) ([]queue.ClaimedEntry, error) {
	if limit <= 0 || skip < 0 {
		return nil, nil
	}
	var list []queue.ClaimedEntry
	arguments := pgx.StrictNamedArgs{"attempt": uuid(id), "skip": skip, "count": limit, "bytes": queue.PayloadBytes}
	err := s.repeat(ctx, func() error {
		list = nil
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return readClaimedStatement.run(ctx, c, planSettingsSQL, arguments, func(rows pgx.Rows) (err error) {
				list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e queue.ClaimedEntry, err error) {
					err = row.Scan(&e.Place, &e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.GroupID, &e.SubmittedAt, &e.Attempt,
						&e.Packed.Dictionary, &e.Packed.Bytes)
					e.SubmittedAt = e.SubmittedAt.UTC()
					return e, err
				})
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the entries of %s: %w", id, err)
	}
	return list, nil
}
