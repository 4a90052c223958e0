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
		return s.closing(ctx, byKey, func(tx pgx.Tx) (last *pgx.Batch, err error) {
			q, err := takeOut(ctx, tx, o.id, e)
			if err != nil {
				return nil, err
			}
			ranks, err = renewData(ctx, tx, o.id, q, pgx.StrictNamedArgs{
				"organism": o.id, "id": q.ids[0], "dictionary": packed.Dictionary, "submitted": packed.Bytes, "cut_attempts": q.attempts,
				"bound_versions": b.versions, "bound_ranks": b.ranks, "bound_ids": b.ids,
			})
			return noteAndBump(o.id, note, true, false), err
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
	out := takenOut{ids: locked.ids}
	queued, states, err := placeAndStates(ctx, tx, organismID, locked.ids)
	if err != nil {
		return takenOut{}, err
	}
	if queued {
		var running map[int64]bool
		if out, running, err = leaveQueue(ctx, tx, organismID, 0, locked.ids); err != nil {
			return takenOut{}, err
		}
		if states, err = statesAfter(ctx, tx, organismID, locked.ids, running); err != nil {
			return takenOut{}, err
		}
	}
	locked.wantStatuses(states, seqlease.Processed)
	for _, id := range locked.ids {
		if states[id].isRevocation {
			locked.wrong.Revocations = append(locked.wrong.Revocations, locked.names[id])
		}
	}
	return out, locked.err()
}

// placeAndStates says whether any of the locked entries is in the queue, and where
// they stand: one that isn't stays out.
func placeAndStates(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64) (queued bool, states map[int64]entryState, err error) {
	batch := &pgx.Batch{}
	batch.Queue(queuedSQL, pgx.StrictNamedArgs{"organism": organismID, "version": int64(0), "ids": ids}).QueryRow(func(row pgx.Row) error {
		return row.Scan(&queued)
	})
	batch.Queue(entryStatesSQL, pgx.StrictNamedArgs{"organism": organismID, "ids": ids}).Query(func(rows pgx.Rows) (err error) {
		states, err = statesOf(rows, len(ids))
		return err
	})
	err = tx.SendBatch(ctx, batch).Close()
	return queued, states, err
}

// renewData stores the new data, and returns the ranks of the new tickets. Then it cuts the
// entry from the leases that hold it all the same: a backfill locks no entry, and a
// ticket that it added after the entry was taken out may have been claimed. From
// the tickets on nobody else can add one.
func renewData(ctx context.Context, tx pgx.Tx, organismID int32, q takenOut, edit pgx.StrictNamedArgs) (ranks map[seqlease.PipelineVersion]int64, err error) {
	batch := &pgx.Batch{}
	batch.Queue(editSQL, edit).Query(func(rows pgx.Rows) (err error) {
		_, ranks, err = ranksOf(rows)
		return err
	})
	var attempts []pgtype.UUID
	var place queuePlace
	var attempt pgtype.UUID
	var running bool
	batch.Queue(cutLeasesSQL, pgx.StrictNamedArgs{"organism": organismID, "version": int64(0), "ids": q.ids}).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&place.id, &attempt, &running, &place.version, &place.attempts, &place.handOuts}, func() error {
			attempts = append(attempts, attempt)
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil || len(attempts) == 0 {
		return ranks, err
	}
	_, err = tx.Exec(ctx, supersedeSQL, pgx.StrictNamedArgs{"ids": q.ids, "attempts": attempts})
	return ranks, err
}
