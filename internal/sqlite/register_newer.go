package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

var _ reprocess.Store = (*Store)(nil)

// RegisterVersion registers a newer version (V2), as [reprocess.Store] says.
func (s *Store) RegisterVersion(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, ahead int64) (reprocess.Registration, error) {
	var r reprocess.Registration
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		r, err = registerNewer(ctx, t, o, version, ahead)
		return err
	})
	if err != nil {
		return reprocess.Registration{}, fmt.Errorf("register version %d of %s: %w", version, o, err)
	}
	return r, nil
}

func registerNewer(ctx context.Context, t *tx, key seqlease.Organism, version seqlease.PipelineVersion, ahead int64) (reprocess.Registration, error) {
	o, err := organismState(ctx, t, key)
	if err != nil {
		return reprocess.Registration{}, err
	}
	r := reprocess.Registration{Current: o.current, Allowed: version > o.current && int64(version-o.current) <= ahead}
	if !r.Allowed {
		return r, nil
	}
	args := named("organism_id", o.id, "pipeline_version", int64(version))
	made, err := t.exec(ctx, "register_pipeline_version", args...)
	if err != nil || made == 0 {
		return r, err
	}
	r.Made = true
	for _, statement := range []string{"register_changes", "backfill_begin"} {
		if _, err := t.exec(ctx, statement, args...); err != nil {
			return r, err
		}
	}
	return r, nil
}
