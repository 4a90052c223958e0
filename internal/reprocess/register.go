package reprocess

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"github.com/seqlease/seqlease"
)

// DefaultAhead is by how much a version may be above the current one (V2).
const DefaultAhead = 1000

// Options are what versions go by.
type Options struct {
	// Ahead is by how much a version that registers itself may be above the current
	// one; 0: [DefaultAhead].
	Ahead int64
	// Keep is how many newer versions must have been current before the rows of an older
	// one are deleted (V7); 0: [DefaultKeep].
	Keep   int
	Logger *slog.Logger // nil: says nothing
}

// Versions are the pipeline versions of all organisms. They may be used concurrently.
type Versions struct {
	store  Store
	ahead  int64
	keep   int
	logger *slog.Logger
	wake   chan struct{} // holds a token when a claim made a chunk and there are more

	mu sync.Mutex
	// filling are those of which this process makes a chunk, and complete those whose
	// backfill it knows to be complete.
	filling, complete map[Version]bool
}

// New returns the versions of the store.
func New(store Store, o Options) *Versions {
	if o.Ahead == 0 {
		o.Ahead = DefaultAhead
	}
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Versions{
		store: store, ahead: o.Ahead, keep: o.Keep, logger: o.Logger, wake: make(chan struct{}, 1),
		filling: map[Version]bool{}, complete: map[Version]bool{},
	}
}

// Register registers a version that was claimed with, and begins its backfill
// (V2). Any number of servers may do so at once. The error is
// [seqlease.ErrPipelineOutdated] for a version below the current one, and
// [seqlease.ErrPipelineUnknown] for one above the ceiling, which it names.
func (v *Versions) Register(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion) error {
	r, err := v.store.RegisterVersion(ctx, o, version, v.ahead)
	switch {
	case err != nil:
		return fmt.Errorf("register pipeline version %d of %s: %w", version, o, err)
	case version < r.Current:
		return seqlease.Explain(seqlease.ErrPipelineOutdated,
			"pipeline version %d of %s is outdated, version %d is current: update the pipeline", version, o, r.Current)
	case version > r.Current && !r.Allowed:
		return seqlease.Explain(seqlease.ErrPipelineUnknown,
			"pipeline version %d of %s can't be registered: version %d is current, and this server takes versions up to %d",
			version, o, r.Current, ceiling(r.Current, v.ahead))
	case r.Made:
		v.logger.LogAttrs(ctx, slog.LevelInfo, "pipeline version registered", organismOf(o), versionOf(version))
		v.forget(Version{o, version})
	}
	return nil
}

// ceiling is the highest version that may be registered.
func ceiling(current seqlease.PipelineVersion, ahead int64) seqlease.PipelineVersion {
	if int64(current) > math.MaxInt64-ahead {
		return math.MaxInt64
	}
	return current + seqlease.PipelineVersion(ahead)
}

func organismOf(o seqlease.Organism) slog.Attr { return slog.String("organism", string(o)) }

func versionOf(v seqlease.PipelineVersion) slog.Attr {
	return slog.Int64("pipeline_version", int64(v))
}
