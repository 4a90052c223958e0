package postgres

import (
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/note_refusals.sql
var noteRefusalsSQL string

//go:embed sql/failures_of.sql
var failuresOfSQL string

// maxFailures is how many failures are shown beside an entry.
const maxFailures = 10

// failureKinds are the kinds by their numbers in the database, from 1.
var failureKinds = []queue.FailureKind{
	queue.FailureExpired, queue.FailureGivenBack, queue.FailureUndelivered, queue.FailureRefused, queue.FailureFreed, queue.FailureDamaged,
}

func kindNumber(k queue.FailureKind) int16 { return int16(slices.Index(failureKinds, k) + 1) }

func kindOf(number int16) queue.FailureKind { return failureKinds[number-1] }

// scanFailure reads at, pipeline_version, attempt_id, kind, worker_id,
// claimed_by, counted and reason, after what comes before them.
func scanFailure(row pgx.CollectableRow, before ...any) (f queue.Failure, err error) {
	var kind int16
	var attempt pgtype.UUID
	err = row.Scan(append(before, &f.At, &f.PipelineVersion, &attempt, &kind, &f.WorkerID, &f.ClaimedBy, &f.Counted, &f.Reason)...)
	if err != nil {
		return f, err
	}
	f.At, f.AttemptID, f.Kind = f.At.UTC(), attempt.Bytes, kindOf(kind)
	return f, nil
}

// failuresOf returns the last failures of each entry at the revision, newest
// first; revision 0 is any. The slices are parallel.
func failuresOf(ctx context.Context, q queryer, ids, versions []int64, revisions []int32) ([][]queue.Failure, error) {
	list := make([][]queue.Failure, len(ids))
	rows, err := q.Query(ctx, failuresOfSQL, pgx.StrictNamedArgs{"ids": ids, "versions": versions, "revisions": revisions, "limit": maxFailures})
	if err != nil {
		return nil, err
	}
	var n int
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		f, err := scanFailure(row, &n)
		if err == nil {
			list[n-1] = append(list[n-1], f)
		}
		return struct{}{}, err
	})
	return list, err
}

// noteRefusals notes refused lines as failures, in a transaction of its own: that
// it failed changes no answer.
func (s *Store) noteRefusals(ctx context.Context, organismID int32, r queue.Submission, refused []seqlease.Refusal) {
	attemptOf := make(map[int]seqlease.AttemptID, len(r.Lines))
	for _, line := range r.Lines {
		attemptOf[line.Number] = line.AttemptID
	}
	tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	for some := range slices.Chunk(queue.NotedRefusals(refused), linesAtOnce) {
		if err := s.noteSome(tidy, organismID, r, some, attemptOf); err != nil {
			s.logger.WarnContext(ctx, "refusals not noted", "organism", r.Organism, "rows", len(some), "error", err)
			return
		}
	}
}

func (s *Store) noteSome(ctx context.Context, organismID int32, r queue.Submission, refused []seqlease.Refusal, attemptOf map[int]seqlease.AttemptID) error {
	n := len(refused)
	attempts, entries, reasons := make([]pgtype.UUID, n), make([]seqlease.AccessionVersion, n), make([]string, n)
	for i, f := range refused {
		attempt, known := attemptOf[f.Line]
		attempts[i], entries[i], reasons[i] = pgtype.UUID{Bytes: attempt, Valid: known}, f.AccessionVersion, f.Detail
	}
	accessions, versions := columns(entries)
	arguments := pgx.StrictNamedArgs{
		"organism": organismID, "version": int64(r.PipelineVersion), "claimed_by": r.ClaimedBy,
		"attempts": attempts, "accessions": accessions, "versions": versions, "reasons": reasons,
		"refusals": queue.RefusalsPerAttempt,
	}
	return s.retry(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, noteRefusalsSQL, arguments, func(pgx.Rows) error { return nil })
		})
	})
}
