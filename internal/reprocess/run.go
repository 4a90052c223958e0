package reprocess

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
)

// complainEvery is how often trouble of a kind is logged at most.
const complainEvery = time.Minute

// Run works behind the versions until ctx ends: it makes one chunk after the other of
// every backfill, moves current versions (V5), and deletes the rows of outdated ones
// (V7). Any number of servers may do so. What fails is logged, at most once a
// minute, and tried again; no failure ends it. Call it once.
func (v *Versions) Run(ctx context.Context) error {
	var chores errgroup.Group
	chores.Go(func() error { v.repeat(ctx, "backfill", 0, v.wake, v.fillAll); return nil })
	outdated := make(chan struct{}, 1)
	switcher := newSwitcher(v.store, v.logger)
	chores.Go(func() error {
		v.repeat(ctx, "switching to a newer pipeline version", checkEvery, nil, func(ctx context.Context) (time.Duration, error) {
			pause, switched, err := switcher.check(ctx)
			if switched > 0 {
				wake(outdated)
			}
			return jittered(pause), err
		})
		return nil
	})
	retirer := newRetirer(v.store, v.logger, v.keep)
	chores.Go(func() error {
		v.repeat(ctx, "retiring old pipeline versions", retireEvery, outdated, retirer.retire)
		return nil
	})
	return chores.Wait()
}

// repeat does a chore until ctx ends, whenever it is woken and after the pause that
// the last time asked for.
func (v *Versions) repeat(ctx context.Context, work string, first time.Duration, wake <-chan struct{}, do func(context.Context) (time.Duration, error)) {
	var complained time.Time
	timer := time.NewTimer(jittered(first))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-wake:
		}
		pause, err := do(ctx)
		if err != nil && ctx.Err() == nil {
			if now := time.Now(); complained.IsZero() || now.Sub(complained) >= complainEvery { //nolint:forbidigo // paces the log
				complained = now
				v.logger.LogAttrs(ctx, slog.LevelError, "background work failed and is tried again", slog.String("work", work), slog.Any("error", err))
			}
		}
		timer.Reset(pause)
	}
}

// jittered is a pause of three quarters to five quarters, so that several servers
// don't work in step.
func jittered(pause time.Duration) time.Duration {
	if pause == 0 {
		return 0
	}
	return pause*3/4 + rand.N(pause/2) //nolint:gosec // a pause, not a secret
}

// wake leaves a token in the channel unless one is there.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
