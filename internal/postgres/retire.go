package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

//go:embed sql/outdated_versions.sql
var outdatedVersionsSQL string

//go:embed sql/retire.sql
var retireSQL string

//go:embed sql/forget_version.sql
var forgetVersionSQL string

// outdatedRow is an outdated version, and the bounds of the snapshot that shows it.
type outdatedRow struct {
	reprocess.Version

	Next, Oldest int64
}

// Outdated lists the versions whose rows are to go (V7), as [reprocess.SwitchStore]
// says. One is named once all transactions have ended that had begun when this process
// first saw it: they may give tickets to it. (Ids are compared within this process
// alone, as a database that is restored elsewhere has others.)
func (s *Store) Outdated(ctx context.Context, keep int) ([]reprocess.Version, error) {
	rows, err := collect(ctx, s, outdatedVersionsSQL, pgx.StrictNamedArgs{"keep": keep}, func(row pgx.CollectableRow) (r outdatedRow, err error) {
		err = row.Scan(&r.Organism, &r.PipelineVersion, &r.Next, &r.Oldest)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("list outdated versions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[reprocess.Version]int64, len(rows))
	var list []reprocess.Version
	for _, r := range rows {
		since, known := s.outdated[r.Version]
		if !known {
			since = r.Next
		}
		seen[r.Version] = since
		if known && r.Oldest >= since {
			list = append(list, r.Version)
		}
	}
	s.outdated = seen
	return list, nil
}

// Retire deletes some rows of an outdated version (V7), as [reprocess.SwitchStore]
// says. A result that is being accepted has its lease locked: that stays, and so does
// the version, until the next time.
func (s *Store) Retire(ctx context.Context, of reprocess.Version, after int64, limit int) (reprocess.Retired, error) {
	o, err := s.organism(ctx, of.Organism)
	if err != nil {
		return reprocess.Retired{}, err
	}
	var chunk reprocess.Retired
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) (err error) {
			chunk, err = retire(ctx, tx, o.id, of, after, limit)
			return err
		})
	})
	if err != nil {
		return reprocess.Retired{}, fmt.Errorf("retire version %d of %s: %w", of.PipelineVersion, of.Organism, err)
	}
	return chunk, nil
}

func retire(ctx context.Context, tx pgx.Tx, organismID int32, of reprocess.Version, after int64, limit int) (chunk reprocess.Retired, err error) {
	arguments := pgx.StrictNamedArgs{"organism": organismID, "version": int64(of.PipelineVersion), "after": after, "limit": limit}
	var looked, others int
	if err := tx.QueryRow(ctx, retireSQL, arguments).Scan(&looked, &chunk.Last, &others); err != nil {
		return chunk, err
	}
	if looked == limit || others > 0 {
		return chunk, nil
	}
	delete(arguments, "after")
	delete(arguments, "limit")
	if err := tx.QueryRow(ctx, forgetVersionSQL, arguments).Scan(&chunk.Gone); err != nil || !chunk.Gone {
		chunk.Waiting = true
		return chunk, err
	}
	note := seqlease.AuditNote{User: seqlease.SystemUser, Action: seqlease.ActionRetire, Detail: fmt.Sprintf("pipeline version %d", of.PipelineVersion)}
	return chunk, noteAction(ctx, tx, organismID, note)
}
