package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

var _ reprocess.Store = (*Store)(nil)

//go:embed sql/register_newer.sql
var registerNewerSQL string

// RegisterVersion registers a newer version (V2), as [reprocess.Store] says. Of
// several at once one makes it and the others wait for its commit.
func (s *Store) RegisterVersion(ctx context.Context, organism seqlease.Organism, version seqlease.PipelineVersion, ahead int64) (reprocess.Registration, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return reprocess.Registration{}, err
	}
	var r reprocess.Registration
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			arguments := pgx.StrictNamedArgs{"organism": o.id, "version": int64(version), "ahead": ahead}
			return tx.QueryRow(ctx, registerNewerSQL, arguments).Scan(&r.Current, &r.Allowed, &r.Made)
		})
	})
	if err != nil {
		return reprocess.Registration{}, fmt.Errorf("register version %d of %s: %w", version, organism, err)
	}
	return r, nil
}
