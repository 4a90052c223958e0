package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/edit.sql
var editSQL string

// Edit replaces the submitted data of a processed entry (L10), as
// [submission.Store] says.
func (s *Store) Edit(ctx context.Context, e submission.Edit) error {
	o, err := s.organism(ctx, e.Organism)
	if err != nil {
		return err
	}
	packed, err := s.Pack(e.Organism, e.Data)
	if err != nil {
		return err
	}
	var first int64
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			q, err := s.takeOut(ctx, tx, o.id, e.Organism, []seqlease.AccessionVersion{e.AccessionVersion}, seqlease.Processed)
			if err != nil {
				return err
			}
			first = q.ids[0]
			_, err = tx.Exec(ctx, editSQL, pgx.StrictNamedArgs{
				"organism": o.id, "id": first, "dictionary": packed.Dictionary, "submitted": packed.Bytes, "cut_attempts": q.attempts,
			})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("edit %s: %w", e.AccessionVersion, err)
	}
	s.moveLanesBack(o.id, first)
	return nil
}

// moveLanesBack makes claims of every version of the organism look from the id on.
func (s *Store) moveLanesBack(organismID int32, first int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, l := range s.lanes {
		if key.organism == organismID {
			l.moveBack(first)
		}
	}
}
