package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease/internal/queue"
)

// swept is what a sweep did in one transaction.
type swept struct {
	left
	full bool // there may be more entries of ended leases
}

// sweep makes entries of leases that have ended wait again (L4), at most
// [maxPlaces] of at most so many leases: of the queue in args, or with NULLs of all.
func sweep(ctx context.Context, t *tx, retry queue.Retry, now int64, args []any, leases int64) (swept, error) {
	list := slices.Concat(args, named("now", now, "leases", leases, "entries", int64(maxPlaces)))
	places, err := readPlaces(ctx, t, "ended_places", list)
	if err != nil {
		return swept{}, err
	}
	result, err := leave(ctx, t, retry, places, leaving{kind: queue.FailureExpired, now: now})
	return swept{result, len(places) == maxPlaces || int64(len(attemptsOf(places))) >= leases}, err
}

// Sweep makes the entries of at most limit leases that have ended wait again, as
// [queue.KeeperStore] says. While no lease has ended it writes nothing.
func (s *Store) Sweep(ctx context.Context, limit int) (int, []queue.EndedLease, error) {
	var ended []queue.EndedLease
	for more := true; more && len(ended) < limit; {
		var gone []queue.EndedLease
		var err error
		if gone, more, err = s.sweepOnce(ctx, limit-len(ended)); err != nil {
			return len(ended), ended, fmt.Errorf("sweep: %w", err)
		}
		ended = append(ended, gone...)
	}
	return len(ended), ended, nil
}

// sweepOnce sweeps in one transaction and returns whose leases are gone.
func (s *Store) sweepOnce(ctx context.Context, limit int) (ended []queue.EndedLease, more bool, err error) {
	var found bool
	if err := s.readOnce().row(ctx, "any_ended", nil, &found); err != nil || !found {
		return nil, false, storeError(err)
	}
	err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) error {
		var now int64
		if err := t.row(ctx, "now", nil, &now); err != nil {
			return err
		}
		result, err := sweep(ctx, t, s.retry, now, named("organism_id", nil, "pipeline_version", nil), int64(limit))
		if err != nil {
			return err
		}
		ended, more = result.leases, result.full
		return a.toAll(ctx, t, result.queues)
	})
	return ended, more, err
}
