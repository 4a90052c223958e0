package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// History returns what became of an entry, as [queue.OperatorStore] says, from
// one snapshot.
func (s *Store) History(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion, limit int) (queue.History, error) {
	var h queue.History
	err := s.read(ctx, func(t *tx) error {
		var entryID, organismID int64
		err := t.row(ctx, "history_entry", named("organism", string(o), "accession", string(av.Accession), "version", int64(av.Version)),
			&entryID, &organismID)
		if errors.Is(err, sql.ErrNoRows) {
			return seqlease.Explain(seqlease.ErrNotFound, "%s is no entry of %s", av, o)
		}
		if err != nil {
			return err
		}
		if h, err = history(ctx, t, organismID, entryID, limit); err != nil {
			return err
		}
		h.Happened, h.OmittedEvents, err = journey(ctx, t, entryID, limit)
		return err
	})
	if err != nil {
		return queue.History{}, fmt.Errorf("history of %s: %w", av, err)
	}
	return h, nil
}

func history(ctx context.Context, t *tx, organismID, entryID int64, limit int) (h queue.History, err error) {
	var claims, failures int64
	args := named("entry_id", entryID, "organism_id", organismID, "limit", int64(limit))
	err = t.rows(ctx, "history_claims", args, func(scan func(...any) error) error {
		c, err := scanClaimRecord(scan, &claims)
		h.Claims = append(h.Claims, c)
		return err
	})
	if err != nil {
		return h, err
	}
	err = t.rows(ctx, "history_failures", named("entry_id", entryID, "limit", int64(limit)), func(scan func(...any) error) error {
		f, err := scanFailure(scan, &failures)
		h.Failures = append(h.Failures, f)
		return err
	})
	if err != nil {
		return h, err
	}
	slices.Reverse(h.Claims) // the newest were read first
	slices.Reverse(h.Failures)
	h.OmittedClaims, h.OmittedFailures = claims-int64(len(h.Claims)), failures-int64(len(h.Failures))
	err = t.rows(ctx, "history_quarantine", named("entry_id", entryID, "organism_id", organismID), func(scan func(...any) error) error {
		var q queue.Quarantined
		var at int64
		err := scan(&q.EntryID, &q.Accession, &q.Version, &q.PipelineVersion, &at, &q.By, &q.Attempts, &q.HandOuts, &q.Reason)
		q.At = instant(at)
		h.Quarantine = append(h.Quarantine, q)
		return err
	})
	return h, err
}

// scanClaimRecord scans a claim behind how many there are.
func scanClaimRecord(scan func(...any) error, all *int64) (queue.ClaimRecord, error) {
	var c queue.ClaimRecord
	var id []byte
	var claimedAt, seconds int64
	var acceptedAt, until sql.NullInt64
	err := scan(all, &id, &c.PipelineVersion, &c.ClaimedBy, &c.WorkerID, &claimedAt, &seconds, &c.Attempt, &c.Entries, &acceptedAt, &until)
	copy(c.AttemptID[:], id)
	c.ClaimedAt, c.Lease = instant(claimedAt), time.Duration(seconds)*time.Second
	if acceptedAt.Valid {
		at := instant(acceptedAt.Int64)
		c.Accepted = &at
	}
	if until.Valid {
		c.Holding, c.Until = true, instant(until.Int64)
	}
	return c, err
}

// FailingWorkers sums up recent failures by worker and user, most failures first.
func (s *Store) FailingWorkers(ctx context.Context, o seqlease.Organism, since time.Duration, limit int) ([]queue.FailingWorker, error) {
	var list []queue.FailingWorker
	err := s.read(ctx, func(t *tx) error {
		row, err := organismState(ctx, t, o)
		if err != nil {
			return err
		}
		args := named("organism_id", row.id, "since", since.Microseconds(), "limit", int64(limit))
		return t.rows(ctx, "failing_workers", args, func(scan func(...any) error) error {
			var w queue.FailingWorker
			var id, at int64
			err := scan(&w.WorkerID, &w.ClaimedBy, &w.Failures, &id, &at, &w.LastKind, &w.LastReason)
			w.LastAt = instant(at)
			list = append(list, w)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("failing workers of %s: %w", o, err)
	}
	return list, nil
}
