package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/pipeline_statistics.sql
var pipelineStatisticsSQL string

//go:embed sql/current_versions.sql
var currentVersionsSQL string

// PipelineStatistics counts results (V8), as [queue.AdminStore] says.
func (s *Store) PipelineStatistics(ctx context.Context) ([]queue.PipelineCount, error) {
	counts, err := collect(ctx, s, pipelineStatisticsSQL, pgx.StrictNamedArgs{}, pgx.RowToStructByPos[queue.PipelineCount])
	if err != nil {
		return nil, fmt.Errorf("count results: %w", err)
	}
	return counts, nil
}

// CurrentPipelineVersions returns the current version of every organism (V1).
func (s *Store) CurrentPipelineVersions(ctx context.Context) (map[seqlease.Organism]seqlease.PipelineVersion, error) {
	type current struct {
		Organism seqlease.Organism
		Version  seqlease.PipelineVersion
	}
	list, err := collect(ctx, s, currentVersionsSQL, pgx.StrictNamedArgs{}, pgx.RowToStructByPos[current])
	if err != nil {
		return nil, fmt.Errorf("read the current pipeline versions: %w", err)
	}
	versions := make(map[seqlease.Organism]seqlease.PipelineVersion, len(list))
	for _, c := range list {
		versions[c.Organism] = c.Version
	}
	return versions, nil
}
