package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/held_leases.sql
var heldLeasesSQL string

//go:embed sql/free_leases.sql
var freeLeasesSQL string

// Leases lists who holds what (L16), as [queue.OperatorStore] says.
func (s *Store) Leases(ctx context.Context, o seqlease.Organism, after *queue.HeldLease, limit int) ([]queue.HeldLease, error) {
	known, err := s.organism(ctx, o)
	if err != nil {
		return nil, err
	}
	arguments := pgx.StrictNamedArgs{"organism": known.id, "first": after == nil, "claimed_at": nil, "attempt": nil, "limit": limit}
	if after != nil {
		arguments["claimed_at"], arguments["attempt"] = after.ClaimedAt, uuid(after.AttemptID)
	}
	list, err := collect(ctx, s, heldLeasesSQL, arguments, func(row pgx.CollectableRow) (l queue.HeldLease, err error) {
		var attempt pgtype.UUID
		var accessions []seqlease.Accession
		var versions []int64
		err = row.Scan(&attempt, &l.PipelineVersion, &l.ClaimedBy, &l.WorkerID, &l.ClaimedAt, &l.Until, &l.Ended, &l.Entries, &l.Claimed,
			&accessions, &versions)
		l.AttemptID, l.ClaimedAt, l.Until = attempt.Bytes, l.ClaimedAt.UTC(), l.Until.UTC()
		for i, accession := range accessions {
			l.First = append(l.First, seqlease.AccessionVersion{Accession: accession, Version: seqlease.Version(versions[i])})
		}
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("list leases of %s: %w", o, err)
	}
	return list, nil
}

// collect runs a statement that only reads, and returns its rows.
func collect[T any](ctx context.Context, s *Store, statement string, arguments pgx.StrictNamedArgs, scan pgx.RowToFunc[T]) (list []T, err error) {
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, statement, arguments, func(rows pgx.Rows) (err error) {
				list, err = pgx.CollectRows(rows, scan)
				return err
			})
		})
	})
	return list, err
}

// freeArguments are those of freeLeasesSQL.
func (s *Store) freeArguments(organismID int32, f queue.FreeLeases, limit int) pgx.StrictNamedArgs {
	accessions, versions := columns(f.Entries)
	attempts := make([]pgtype.UUID, len(f.AttemptIDs))
	for i, id := range f.AttemptIDs {
		attempts[i] = uuid(id)
	}
	const noNote = -1
	note := queue.OperatorNote{Number: noNote}
	if f.Note != nil {
		note = *f.Note
	}
	return pgx.StrictNamedArgs{
		"organism": organismID, "any_attempt": f.AttemptIDs == nil, "attempt_ids": attempts, "worker_id": f.WorkerID,
		"any_entry": f.Entries == nil, "accessions": accessions, "versions": versions, "reason": f.Reason, "limit": limit,
		"max_attempts": s.limits.Attempts, "max_hand_outs": s.limits.HandOuts,
		"note": note.Number, "by": note.By, "detail": note.Detail,
	}
}

// FreeLeases ends leases as if they had run out (L16), as [queue.OperatorStore]
// says. A lease is one row for each 1,000 entries, and limit bounds those.
func (s *Store) FreeLeases(ctx context.Context, f queue.FreeLeases, limit int) (freed int, more bool, err error) {
	o, err := s.organism(ctx, f.Organism)
	if err != nil {
		return 0, false, err
	}
	var leases int
	var rank, number int64
	arguments := s.freeArguments(o.id, f, limit)
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, freeLeasesSQL, arguments, func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&leases, &freed, &rank, &number}, func() error { return nil })
				return err
			})
		})
	})
	if err != nil {
		return 0, false, fmt.Errorf("free leases of %s: %w", f.Organism, err)
	}
	if f.Note != nil {
		f.Note.Number = number
	}
	if freed > 0 {
		s.moveSuspectsBack(o.id, 0, rank)
		s.bell.Ring(f.Organism)
	}
	return freed, leases == limit, nil
}
