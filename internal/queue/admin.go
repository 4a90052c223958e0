package queue

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/seqlease/seqlease"
)

// AdminStore is what the calls about the whole server need of storage.
type AdminStore interface {
	AuditStore

	// PipelineStatistics counts the results of each organism and pipeline version,
	// those of quarantine included. It reads no documents (V8).
	PipelineStatistics(ctx context.Context) ([]PipelineCount, error)
	// CurrentPipelineVersions returns the current version of every organism that was
	// ever registered.
	CurrentPipelineVersions(ctx context.Context) (map[seqlease.Organism]seqlease.PipelineVersion, error)
	// DeleteAllSequenceData removes all entries with everything that belongs to them or
	// was kept about them: tickets, leases, results, quarantine and history, terms,
	// external metadata, and what uploads are known by. Pipeline version 1 is current
	// again and the only one. Every mark changes. Groups, pauses and the audit log
	// stay, and no accession is given out again. An upload that is under way comes
	// after it. It returns how many entries there were.
	DeleteAllSequenceData(ctx context.Context, by string) (int64, error)
}

// PipelineCount is how many results there are.
type PipelineCount struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Results         int64
}

// PipelineStatistics counts the results of each pipeline version of the configured
// organisms; those without any are absent. An entry in quarantine counts with the
// result that says so, as everybody sees it as processed.
func (q *Queue) PipelineStatistics(ctx context.Context) (map[seqlease.Organism]map[seqlease.PipelineVersion]int64, error) {
	counts, err := q.store.PipelineStatistics(ctx)
	if err != nil {
		return nil, fmt.Errorf("pipeline statistics: %w", err)
	}
	statistics := map[seqlease.Organism]map[seqlease.PipelineVersion]int64{}
	for _, c := range counts {
		if _, err := q.organisms.Get(c.Organism); err != nil {
			continue // of an earlier configuration
		}
		if statistics[c.Organism] == nil {
			statistics[c.Organism] = map[seqlease.PipelineVersion]int64{}
		}
		statistics[c.Organism][c.PipelineVersion] = c.Results
	}
	return statistics, nil
}

// CurrentPipelineVersions returns the current version of each configured organism (V1).
func (q *Queue) CurrentPipelineVersions(ctx context.Context) (map[seqlease.Organism]seqlease.PipelineVersion, error) {
	stored, err := q.store.CurrentPipelineVersions(ctx)
	if err != nil {
		return nil, fmt.Errorf("current pipeline versions: %w", err)
	}
	versions := make(map[seqlease.Organism]seqlease.PipelineVersion, len(stored))
	for _, o := range q.organisms.Keys() {
		if version, known := stored[o]; known {
			versions[o] = version
		}
	}
	return versions, nil
}

// DeleteAllSequenceData empties the store, as [AdminStore] says. Workers may run:
// what they send for entries that were there is refused.
func (q *Queue) DeleteAllSequenceData(ctx context.Context, by string) error {
	n, err := q.store.DeleteAllSequenceData(ctx, by)
	if err != nil {
		return fmt.Errorf("delete all sequence data: %w", err)
	}
	q.logger.LogAttrs(ctx, slog.LevelWarn, "all sequence data deleted", slog.String("by", by), slog.Int64("rows", n))
	return nil
}
