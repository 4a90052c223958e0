package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Quarantined lists at most limit quarantined entries with store ids above after,
// each with all its pipeline versions.
func (s *Store) Quarantined(ctx context.Context, o seqlease.Organism, after int64, limit int) ([]queue.Quarantined, error) {
	var list []queue.Quarantined
	err := s.read(ctx, func(t *tx) error {
		row, err := organismState(ctx, t, o)
		if err != nil {
			return err
		}
		var keys []failuresOf
		args := named("organism_id", row.id, "after", after, "limit", int64(limit))
		err = t.rows(ctx, "quarantined", args, func(scan func(...any) error) error {
			var q queue.Quarantined
			var at int64
			var revision int
			err := scan(&q.EntryID, &q.Accession, &q.Version, &q.PipelineVersion, &at, &q.By, &q.Attempts, &q.HandOuts, &q.Reason, &revision)
			q.At = instant(at)
			list = append(list, q)
			keys = append(keys, failuresOf{q.EntryID, q.PipelineVersion, revision})
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		return readFailures(ctx, t, keys, func(place int, f queue.Failure) {
			list[place].Failures = append(list[place].Failures, f)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("entries of %s in quarantine: %w", o, err)
	}
	return list, nil
}

// FailedResults reads present results with errors of that version (0: the current
// one) of entries with store ids above after, at most limit.
func (s *Store) FailedResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, after int64, limit int) ([]queue.FailedResult, error) {
	var list []queue.FailedResult
	err := s.read(ctx, func(t *tx) error {
		row, err := organismState(ctx, t, o)
		if err != nil {
			return err
		}
		if v == 0 {
			v = row.current
		}
		args := named("organism_id", row.id, "pipeline_version", int64(v), "after", after, "limit", int64(limit))
		return t.rows(ctx, "failed_results", args, func(scan func(...any) error) error {
			var r queue.FailedResult
			err := scan(&r.EntryID, &r.Accession, &r.Version, &r.Document.Dictionary, &r.Document.Bytes)
			list = append(list, r)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("failed results of %s: %w", o, err)
	}
	return list, nil
}
