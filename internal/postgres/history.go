package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/entry_of.sql
var entryOfSQL string

//go:embed sql/claims_of.sql
var claimsOfSQL string

//go:embed sql/failures.sql
var failuresSQL string

//go:embed sql/quarantine_of.sql
var quarantineOfSQL string

//go:embed sql/failing_workers.sql
var failingWorkersSQL string

// History returns what became of an entry, as [queue.OperatorStore] says. Claims
// are found by the bounds of their ids, and then by their arrays.
func (s *Store) History(ctx context.Context, organism seqlease.Organism, av seqlease.AccessionVersion, limit int) (queue.History, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return queue.History{}, err
	}
	var h queue.History
	err = s.repeat(ctx, func() error {
		return s.transaction(ctx, readOnly, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, planSettingsSQL); err != nil {
				return err
			}
			var id int64
			err := tx.QueryRow(ctx, entryOfSQL, pgx.StrictNamedArgs{
				"organism": o.id, "accession": string(av.Accession), "version": int64(av.Version),
			}).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return seqlease.Explain(seqlease.ErrNotFound, "%s has no entry %s", organism, av)
			}
			if err != nil {
				return err
			}
			h, err = history(ctx, tx, o.id, id, limit)
			return err
		})
	})
	if err != nil {
		return queue.History{}, fmt.Errorf("history of %s: %w", av, err)
	}
	return h, nil
}

func history(ctx context.Context, tx pgx.Tx, organismID int32, id int64, limit int) (h queue.History, err error) {
	rows, err := tx.Query(ctx, claimsOfSQL, pgx.StrictNamedArgs{"organism": organismID, "id": id, "limit": limit})
	if err != nil {
		return h, err
	}
	var claims, failures int64
	h.Claims, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c queue.ClaimRecord, err error) {
		var attempt pgtype.UUID
		var seconds int64
		var until *time.Time
		err = row.Scan(&attempt, &c.PipelineVersion, &c.ClaimedBy, &c.WorkerID, &c.ClaimedAt, &seconds, &c.Attempt, &c.Entries, &c.Accepted, &until, &claims)
		c.AttemptID, c.ClaimedAt, c.Lease = attempt.Bytes, c.ClaimedAt.UTC(), time.Duration(seconds)*time.Second
		if c.Accepted != nil {
			*c.Accepted = c.Accepted.UTC()
		}
		if until != nil {
			c.Holding, c.Until = true, until.UTC()
		}
		return c, err
	})
	if err != nil {
		return h, err
	}
	if rows, err = tx.Query(ctx, failuresSQL, pgx.StrictNamedArgs{"id": id, "limit": limit}); err != nil {
		return h, err
	}
	h.Failures, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (queue.Failure, error) { return scanFailure(row, &failures) })
	if err != nil {
		return h, err
	}
	if rows, err = tx.Query(ctx, quarantineOfSQL, pgx.StrictNamedArgs{"organism": organismID, "id": id}); err != nil {
		return h, err
	}
	h.Quarantine, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (q queue.Quarantined, err error) {
		err = row.Scan(&q.EntryID, &q.Accession, &q.Version, &q.PipelineVersion, &q.At, &q.By, &q.Attempts, &q.HandOuts, &q.Reason)
		q.At = q.At.UTC()
		return q, err
	})
	if err != nil {
		return h, err
	}
	h.OmittedClaims, h.OmittedFailures = claims-int64(len(h.Claims)), failures-int64(len(h.Failures))
	h.Happened, h.OmittedEvents, err = journey(ctx, tx, id, limit)
	return h, err
}

// FailingWorkers sums up failures by worker and user (L9), as
// [queue.OperatorStore] says.
func (s *Store) FailingWorkers(ctx context.Context, organism seqlease.Organism, since time.Duration, limit int) ([]queue.FailingWorker, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return nil, err
	}
	arguments := pgx.StrictNamedArgs{"organism": o.id, "since": since.Microseconds(), "limit": limit}
	list, err := collect(ctx, s, failingWorkersSQL, arguments, func(row pgx.CollectableRow) (w queue.FailingWorker, err error) {
		var kind int16
		if err = row.Scan(&w.WorkerID, &w.ClaimedBy, &w.Failures, &w.LastAt, &kind, &w.LastReason); err != nil {
			return w, err
		}
		w.LastAt, w.LastKind = w.LastAt.UTC(), kindOf(kind)
		return w, nil
	})
	if err != nil {
		return nil, fmt.Errorf("failing workers of %s: %w", organism, err)
	}
	return list, nil
}
