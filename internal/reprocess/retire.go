package reprocess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// DefaultKeep is how many newer versions must have been current before the rows of an
// older one are deleted (V7): the current version's and those of the one before stay.
const DefaultKeep = 2

const (
	// retireEvery is the pause between two looks at what is outdated, and retirePause
	// the one between two chunks: a million results are gone in a minute or two.
	retireEvery = 10 * time.Second
	retirePause = 50 * time.Millisecond
	// retireRows is how many results a chunk looks at.
	retireRows = 2000
)

// retirer deletes the rows of outdated versions (V7). One goroutine uses it.
type retirer struct {
	store  Store
	logger *slog.Logger
	keep   int
	after  map[Version]int64 // up to which entry, by id, the results of a version are gone
}

func newRetirer(store Store, logger *slog.Logger, keep int) *retirer {
	return &retirer{store: store, logger: logger, keep: keep, after: map[Version]int64{}}
}

// retire deletes a chunk of each outdated version, and says after which pause to go on.
func (r *retirer) retire(ctx context.Context) (pause time.Duration, err error) {
	outdated, err := r.outdated(ctx)
	if err != nil {
		return retireEvery, err
	}
	after := make(map[Version]int64, len(outdated))
	pause = retireEvery
	for _, of := range outdated {
		chunk, fault := r.chunk(ctx, of)
		switch {
		case fault != nil:
			err = errors.Join(err, fault)
		case chunk.Gone:
			r.logger.LogAttrs(ctx, slog.LevelInfo, "pipeline version retired", organismOf(of.Organism), versionOf(of.PipelineVersion))
		case chunk.Waiting:
			// Somebody holds a row of it: what is left is found from the start.
		default:
			after[of], pause = chunk.Last, retirePause
		}
	}
	r.after = after
	return pause, err
}

func (r *retirer) outdated(ctx context.Context) ([]Version, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	list, err := r.store.Outdated(ctx, r.keep)
	if err != nil {
		return nil, fmt.Errorf("list the outdated versions: %w", err)
	}
	return list, nil
}

func (r *retirer) chunk(ctx context.Context, of Version) (Retired, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	chunk, err := r.store.Retire(ctx, of, r.after[of], retireRows)
	if err != nil {
		return Retired{}, fmt.Errorf("retire version %d of %s: %w", of.PipelineVersion, of.Organism, err)
	}
	return chunk, nil
}
