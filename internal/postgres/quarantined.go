package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/quarantined.sql
var quarantinedSQL string

//go:embed sql/failed_results.sql
var failedResultsSQL string

// Quarantined lists what is in quarantine (L16), as [queue.OperatorStore] says.
// An entry that is so for several versions is listed for each of them.
func (s *Store) Quarantined(ctx context.Context, organism seqlease.Organism, after int64, limit int) ([]queue.Quarantined, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return nil, err
	}
	var list []queue.Quarantined
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, quarantinedSQL, pgx.StrictNamedArgs{"organism": o.id, "after": after, "limit": limit})
			if err != nil {
				return err
			}
			var revisions []int32
			var ids, versions []int64
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (q queue.Quarantined, err error) {
				var revision int32
				err = row.Scan(&q.EntryID, &q.Accession, &q.Version, &q.PipelineVersion, &q.At, &q.By, &q.Attempts, &q.HandOuts, &q.Reason, &revision)
				q.At = q.At.UTC()
				ids, versions, revisions = append(ids, q.EntryID), append(versions, int64(q.PipelineVersion)), append(revisions, revision)
				return q, err
			})
			if err != nil || len(list) == 0 {
				return err
			}
			failures, err := failuresOf(ctx, tx, ids, versions, revisions)
			for i := range list {
				list[i].Failures = failures[i]
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the quarantine of %s: %w", organism, err)
	}
	return list, nil
}

// FailedResults reads present results with errors, as [queue.OperatorStore] says.
func (s *Store) FailedResults(ctx context.Context, organism seqlease.Organism, version seqlease.PipelineVersion, after int64, limit int) ([]queue.FailedResult, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return nil, err
	}
	arguments := pgx.StrictNamedArgs{"organism": o.id, "version": int64(version), "after": after, "limit": limit}
	list, err := collect(ctx, s, failedResultsSQL, arguments, func(row pgx.CollectableRow) (r queue.FailedResult, err error) {
		err = row.Scan(&r.EntryID, &r.Accession, &r.Version, &r.Document.Dictionary, &r.Document.Bytes)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read failed results of %s: %w", organism, err)
	}
	return list, nil
}
