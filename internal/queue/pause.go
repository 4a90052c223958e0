package queue

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/seqlease/seqlease"
)

// Pause stops claims of the organism, or with a version above 0 of that live
// version ([seqlease.ErrPipelineUnknown]), until [Queue.Resume]. Leases go on (L16).
func (q *Queue) Pause(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, by, reason string) error {
	return q.setPaused(ctx, o, version, true, by, reason)
}

// Resume lets claims go on. Waiting claims are woken.
func (q *Queue) Resume(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, by, reason string) error {
	return q.setPaused(ctx, o, version, false, by, reason)
}

func (q *Queue) setPaused(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, paused bool, by, reason string) error {
	if _, err := q.organisms.Get(o); err != nil {
		return err
	}
	if version < 0 {
		return seqlease.InvalidParameter("version", fmt.Sprintf("the pipeline version must be at least 1, not %d", version))
	}
	what := "resume"
	if paused {
		what = "pause"
	}
	if err := q.store.SetPaused(ctx, o, version, paused, noteOf(by, pauseTarget(version), reason)); err != nil {
		return fmt.Errorf("%s %s, pipeline version %d: %w", what, o, version, err)
	}
	target := "every pipeline version"
	if version > 0 {
		target = strconv.FormatInt(int64(version), 10)
	}
	q.logger.LogAttrs(ctx, slog.LevelInfo, "operator acted", slog.String("action", what), slog.String("organism", string(o)),
		slog.String("pipeline_version", target), slog.String("by", by), slog.String("reason", CleanReason(reason)))
	return nil
}
