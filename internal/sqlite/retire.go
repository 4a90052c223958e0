package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// At most so many results and leases go in one transaction, so that others don't wait
// long for the writer.
const (
	retireResults = 500
	retireLeases  = 10
)

// Outdated lists the versions whose rows are to go (V7), as [reprocess.SwitchStore] says.
func (s *Store) Outdated(ctx context.Context, keep int) ([]reprocess.Version, error) {
	var list []reprocess.Version
	err := s.readOnce().rows(ctx, "outdated_versions", named("keep", int64(keep)), func(scan func(...any) error) error {
		var v reprocess.Version
		err := scan(&v.Organism, &v.PipelineVersion)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list outdated versions: %w", storeError(err))
	}
	return list, nil
}

// Retire deletes some rows of an outdated version (V7), as [reprocess.SwitchStore] says.
func (s *Store) Retire(ctx context.Context, of reprocess.Version, after int64, limit int) (chunk reprocess.Retired, err error) {
	err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		chunk, err = retire(ctx, t, of, after, min(limit, retireResults))
		return err
	})
	if err != nil {
		return reprocess.Retired{}, fmt.Errorf("retire version %d of %s: %w", of.PipelineVersion, of.Organism, err)
	}
	return chunk, nil
}

func retire(ctx context.Context, t *tx, of reprocess.Version, after int64, limit int) (chunk reprocess.Retired, err error) {
	o, err := organismState(ctx, t, of.Organism)
	if err != nil {
		return chunk, err
	}
	if of.PipelineVersion >= o.current {
		return reprocess.Retired{Last: after, Waiting: true}, nil
	}
	version := named("organism_id", o.id, "pipeline_version", int64(of.PipelineVersion))
	// The leases first: without any, no result comes behind those that are gone.
	others, err := retireOthers(ctx, t, version, limit)
	if err != nil || others > 0 {
		return reprocess.Retired{Last: after}, err
	}
	var looked int
	page := named("pipeline_version", int64(of.PipelineVersion), "after", after, "limit", int64(limit))
	if err := t.row(ctx, "retire_page", page, &looked, &chunk.Last); err != nil {
		return chunk, err
	}
	if _, err := t.exec(ctx, "retire_results", append(version, named("after", after, "last", chunk.Last)...)...); err != nil || looked == limit {
		return chunk, err
	}
	for _, statement := range []string{"retire_runs", "forget_turns", "backfill_end", "forget_version"} {
		if _, err := t.exec(ctx, statement, version...); err != nil {
			return chunk, err
		}
	}
	chunk.Gone = true
	note := seqlease.AuditNote{User: seqlease.SystemUser, Action: seqlease.ActionRetire, Detail: fmt.Sprintf("pipeline version %d", of.PipelineVersion)}
	return chunk, noteAction(ctx, t, o.id, note)
}

// retireOthers deletes some rows of the version that aren't results, and says how many.
func retireOthers(ctx context.Context, t *tx, version []any, limit int) (total int64, err error) {
	rows := slices.Concat(version, named("limit", int64(limit)))
	leases := slices.Concat(version, named("leases", int64(retireLeases)))
	for _, d := range []struct {
		statement string
		args      []any
	}{{"retire_leased", leases}, {"retire_leases", version}, {"retire_tickets", rows}, {"retire_quarantine", rows}} {
		n, err := t.exec(ctx, d.statement, d.args...)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}
