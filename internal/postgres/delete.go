package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
)

//go:embed sql/delete_entries.sql
var deleteEntriesSQL string

// Delete removes entries with all that belongs to them (L10), as
// [submission.Store] says.
func (s *Store) Delete(ctx context.Context, organism seqlease.Organism, entries []seqlease.AccessionVersion) error {
	if len(entries) == 0 {
		return nil
	}
	o, err := s.organism(ctx, organism)
	if err != nil {
		return err
	}
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			q, err := s.takeOut(ctx, tx, o.id, organism, entries, seqlease.Received, seqlease.Processed)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, deleteEntriesSQL, pgx.StrictNamedArgs{"organism": o.id, "ids": q.ids}); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("delete %d entries: %w", len(entries), err)
	}
	return nil
}
