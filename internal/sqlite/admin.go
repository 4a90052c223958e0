package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// PipelineStatistics counts results (V8), as [queue.AdminStore] says.
func (s *Store) PipelineStatistics(ctx context.Context) ([]queue.PipelineCount, error) {
	var counts []queue.PipelineCount
	err := s.readLong(ctx, func(t *tx) error {
		return t.rows(ctx, "pipeline_statistics", nil, func(scan func(...any) error) error {
			var c queue.PipelineCount
			err := scan(&c.Organism, &c.PipelineVersion, &c.Results)
			counts = append(counts, c)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("count results: %w", err)
	}
	return counts, nil
}

// CurrentPipelineVersions returns the current version of every organism (V1).
func (s *Store) CurrentPipelineVersions(ctx context.Context) (map[seqlease.Organism]seqlease.PipelineVersion, error) {
	versions := map[seqlease.Organism]seqlease.PipelineVersion{}
	err := s.readOnce().rows(ctx, "current_versions", nil, func(scan func(...any) error) error {
		var o seqlease.Organism
		var version seqlease.PipelineVersion
		err := scan(&o, &version)
		versions[o] = version
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the current pipeline versions: %w", storeError(err))
	}
	return versions, nil
}
