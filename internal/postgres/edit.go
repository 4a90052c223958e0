package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/edit.sql
var editSQL string

//go:embed sql/supersede.sql
var supersedeSQL string

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
	note := seqlease.AuditNote{User: e.User, Action: seqlease.ActionEdit, Named: []seqlease.AccessionVersion{e.AccessionVersion}}
	b := s.knownBounds(o.id)
	var ranks map[seqlease.PipelineVersion]int64
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			q, err := takeOut(ctx, tx, o.id, e)
			if err != nil {
				return err
			}
			rows, err := tx.Query(ctx, editSQL, pgx.StrictNamedArgs{
				"organism": o.id, "id": q.ids[0], "dictionary": packed.Dictionary, "submitted": packed.Bytes, "cut_attempts": q.attempts,
				"bound_versions": b.versions, "bound_ranks": b.ranks, "bound_ids": b.ids,
			})
			if err != nil {
				return err
			}
			if _, ranks, err = ranksOf(rows); err != nil {
				return err
			}
			if err := leaveLeases(ctx, tx, o.id, q.ids); err != nil {
				return err
			}
			if err := noteAction(ctx, tx, o.id, note); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("edit %s: %w", e.AccessionVersion, err)
	}
	s.added(e.Organism, o.id, queue.LaneFresh, ranks)
	return nil
}

// takeOut locks the entry, takes it out of the queue and tests that it may be
// edited. The order is that of every writer: entry, ticket and lease, result. If it
// may not, the error undoes that it was taken out.
func takeOut(ctx context.Context, tx pgx.Tx, organismID int32, e submission.Edit) (takenOut, error) {
	locked, err := lockEntries(ctx, tx, e.Organism, []seqlease.AccessionVersion{e.AccessionVersion})
	if err != nil {
		return takenOut{}, err
	}
	out, running, err := leaveQueue(ctx, tx, organismID, 0, locked.ids)
	if err != nil {
		return takenOut{}, err
	}
	states, err := statesAfter(ctx, tx, organismID, locked.ids, running)
	if err != nil {
		return takenOut{}, err
	}
	locked.wantStatuses(states, seqlease.Processed)
	for _, id := range locked.ids {
		if states[id].isRevocation {
			locked.wrong.Revocations = append(locked.wrong.Revocations, locked.names[id])
		}
	}
	return out, locked.err()
}

// leaveLeases cuts an edited entry, whose tickets this transaction has written,
// from the leases that hold it all the same: a backfill locks no entry, and a
// ticket that it added after the entry was taken out may have been claimed. From
// the tickets on nobody else can add one.
func leaveLeases(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64) error {
	rows, err := tx.Query(ctx, cutLeasesSQL, pgx.StrictNamedArgs{"organism": organismID, "version": int64(0), "ids": ids})
	if err != nil {
		return err
	}
	var attempts []pgtype.UUID
	var place queuePlace
	var attempt pgtype.UUID
	var running bool
	_, err = pgx.ForEachRow(rows, []any{&place.id, &attempt, &running, &place.version, &place.attempts, &place.handOuts}, func() error {
		attempts = append(attempts, attempt)
		return nil
	})
	if err != nil || len(attempts) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, supersedeSQL, pgx.StrictNamedArgs{"ids": ids, "attempts": attempts})
	return err
}
