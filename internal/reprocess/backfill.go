package reprocess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seqlease/seqlease"
)

const (
	// chunkEntries is how many entries a chunk looks at: in statements of 10,000 an
	// edit of one of them waited for 0.05 to 0.14 s.
	chunkEntries = 4000
	// chunkTimeout bounds one chunk of the filler, so that one that waits for a
	// transaction that hangs doesn't end those of other versions and organisms.
	chunkTimeout = 20 * time.Second
	// listTimeout bounds listing what is unfinished.
	listTimeout = 20 * time.Second
	// fillEvery is how often the filler looks for backfills that another server began.
	fillEvery = 2 * time.Second
	// busyPause is the filler's pause while somebody else makes the next chunk.
	busyPause = 50 * time.Millisecond
	// claimChunks is how many chunks a claim makes that finds no work: those of which
	// every entry has its place already take little time.
	claimChunks = 5
)

// Fill makes chunks of the version's backfill for a claim that found no work, and
// says whether it added tickets (V3). While somebody else in this process or
// elsewhere makes one it returns at once: nobody waits.
func (v *Versions) Fill(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion) (added bool, err error) {
	of := Version{o, version}
	if !v.begin(of) {
		return false, nil
	}
	defer v.end(of)
	for range claimChunks {
		chunk, err := v.chunk(ctx, of)
		if err == nil && chunk.Progress == More {
			wake(v.wake)
		}
		if err != nil || chunk.Tickets > 0 || chunk.Progress != More {
			return chunk.Tickets > 0, err
		}
	}
	return false, nil
}

// begin says whether this caller may make chunks of the version.
func (v *Versions) begin(of Version) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.complete[of] || v.filling[of] {
		return false
	}
	v.filling[of] = true
	return true
}

func (v *Versions) end(of Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.filling, of)
}

// forget makes claims ask again whether the backfill is complete.
func (v *Versions) forget(of Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.complete, of)
}

// chunk makes the next chunk.
func (v *Versions) chunk(ctx context.Context, of Version) (Chunk, error) {
	chunk, err := v.store.Backfill(ctx, of.Organism, of.PipelineVersion, chunkEntries)
	if err != nil {
		return Chunk{}, fmt.Errorf("backfill %s, pipeline version %d: %w", of.Organism, of.PipelineVersion, err)
	}
	if chunk.Progress == Complete {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.complete[of] = true
	}
	return chunk, nil
}

// fillAll makes a chunk of every backfill, so that they go on when claims are few, and
// says after which pause to go on. Any number of servers may do so.
func (v *Versions) fillAll(ctx context.Context) (pause time.Duration, err error) {
	idle := jittered(fillEvery)
	listing, cancel := context.WithTimeout(ctx, listTimeout)
	unfinished, err := v.store.Unfinished(listing)
	cancel()
	if err != nil {
		return idle, fmt.Errorf("list unfinished backfills: %w", err)
	}
	pause = idle
	for _, of := range unfinished {
		v.forget(of) // another server may have begun it
		progress, fault := v.fillOne(ctx, of)
		err = errors.Join(err, fault)
		switch progress {
		case More:
			pause = 0
		case Busy:
			pause = min(pause, busyPause)
		case Waiting, Complete:
		}
	}
	return pause, err
}

// fillOne makes a chunk of the backfill. After a fault it goes on with the next round.
func (v *Versions) fillOne(ctx context.Context, of Version) (Progress, error) {
	if !v.begin(of) {
		return Busy, nil
	}
	defer v.end(of)
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	chunk, err := v.chunk(ctx, of)
	if err != nil {
		return Waiting, err
	}
	if chunk.Progress == Complete {
		v.logger.LogAttrs(ctx, slog.LevelInfo, "backfill complete", organismOf(of.Organism), versionOf(of.PipelineVersion))
	}
	return chunk.Progress, nil
}
