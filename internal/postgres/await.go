package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seqlease/seqlease"
)

const (
	// lookInterval is how often Open looks whether the database is there.
	lookInterval = 200 * time.Millisecond
	// resetInterval is how often at most all connections are made anew.
	resetInterval = time.Second
)

// await returns when the store is ready, and otherwise why it isn't: at once if
// that doesn't pass by itself, else after the time.
func (s *Store) await(ctx context.Context, limit time.Duration) error {
	err := s.Ready(ctx)
	if limit <= 0 || !passes(err) {
		return err
	}
	s.logger.WarnContext(ctx, "waiting for the database", "at_most", limit, "error", err)
	late := time.NewTimer(limit)
	defer late.Stop()
	again := time.NewTicker(lookInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		case <-late.C:
			return fmt.Errorf("waited %s: %w", limit, err)
		case <-again.C:
		}
		if next := s.Ready(ctx); ctx.Err() == nil {
			err = next
		}
		if !passes(err) {
			return err
		}
	}
}

// passes says that the same may work later though nobody does anything about it.
func passes(err error) bool {
	var unreachable *unreachableError
	return errors.Is(err, seqlease.ErrBusy) && (!errors.As(err, &unreachable) || !unreachable.lasting)
}

// resets paces how often all connections are made anew. The zero value: never yet.
type resets struct{ last atomic.Pointer[time.Time] }

// due says whether to do it, and notes that it was done.
func (r *resets) due() bool {
	now := time.Now() //nolint:forbidigo // paces connecting; says nothing about leases
	last := r.last.Load()
	return (last == nil || now.Sub(*last) >= resetInterval) && r.last.CompareAndSwap(last, &now)
}
