package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// Leases lists at most limit leases of the organism by start and attempt id, as
// [queue.OperatorStore] says. There are as many as workers hold, so they are sorted.
func (s *Store) Leases(ctx context.Context, o seqlease.Organism, after *queue.HeldLease, limit int) ([]queue.HeldLease, error) {
	var list []queue.HeldLease
	err := s.read(ctx, func(t *tx) error {
		row, err := organismState(ctx, t, o)
		if err != nil {
			return err
		}
		args := named("organism_id", row.id, "limit", int64(limit), "after_at", nil, "after_attempt", nil)
		if after != nil {
			args = named("organism_id", row.id, "limit", int64(limit), "after_at", after.ClaimedAt.UnixMicro(),
				"after_attempt", after.AttemptID[:])
		}
		return t.rows(ctx, "leases", args, func(scan func(...any) error) error {
			l, err := scanHeldLease(scan)
			list = append(list, l)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("leases of %s: %w", o, err)
	}
	return list, nil
}

func scanHeldLease(scan func(...any) error) (queue.HeldLease, error) {
	var l queue.HeldLease
	var id []byte
	var claimedAt, until int64
	var first string
	err := scan(&id, &l.PipelineVersion, &l.ClaimedBy, &l.WorkerID, &claimedAt, &until, &l.Ended, &l.Entries, &l.Claimed, &first)
	if err != nil {
		return l, err
	}
	copy(l.AttemptID[:], id)
	l.ClaimedAt, l.Until = instant(claimedAt), instant(until)
	l.First, err = accessionVersions(first)
	return l, err
}

// FreeLeases ends leases, or cuts entries from them, as [queue.OperatorStore]
// says.
func (s *Store) FreeLeases(ctx context.Context, f queue.FreeLeases, limit int) (freed int, more bool, err error) {
	organismID, places, more, err := s.placesToFree(ctx, f, limit)
	call := operatorCall{action: seqlease.ActionFreeLeases, note: f.Note}
	if err == nil && len(places) > 0 {
		err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
			if freed, err = freeLeases(ctx, t, a, s.retry, places, f.Reason); err != nil || freed == 0 {
				return err
			}
			return call.count(ctx, t, organismID, freed)
		})
	}
	if err != nil {
		return 0, false, fmt.Errorf("free leases of %s: %w", f.Organism, err)
	}
	call.committed(freed)
	return freed, more, nil
}

// placesToFree reads which places of at most so many leases are meant, and whether
// there may be more. It needs no writer.
func (s *Store) placesToFree(ctx context.Context, f queue.FreeLeases, limit int) (organismID int64, places []place, more bool, err error) {
	err = s.read(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, f.Organism)
		if err != nil {
			return err
		}
		organismID = o.id
		attempts := orNull(f.AttemptIDs, func(ids []seqlease.AttemptID) string {
			return jsonList(ids, func(b []byte, id seqlease.AttemptID) []byte {
				return append(hex.AppendEncode(append(b, '"'), id[:]), '"')
			})
		})
		args := named("organism_id", o.id, "attempt_ids", attempts, "worker_id", f.WorkerID, "places", int64(maxPlaces))
		if f.Entries != nil {
			places, err = readPlaces(ctx, t, "free_listed", append(args, named("entries", jsonEntries(f.Entries))...))
			return err
		}
		places, err = readPlaces(ctx, t, "free_leases", append(args, named("leases", int64(limit))...))
		return err
	})
	if attempts := attemptsOf(places); len(attempts) > limit { // the listed entries are of more leases
		within := map[string]bool{}
		for _, id := range attempts[:limit] {
			within[id] = true
		}
		kept := places[:0]
		for _, p := range places {
			if within[p.attemptID] {
				kept = append(kept, p)
			}
		}
		return organismID, kept, true, err
	}
	return organismID, places, len(places) == maxPlaces || len(attemptsOf(places)) == limit, err
}

// freeLeases ends those of the places that are still held.
func freeLeases(ctx context.Context, t *tx, a *added, retry queue.Retry, places []place, reason string) (int, error) {
	how := leaving{kind: queue.FailureFreed, reason: shorten(reason), lost: true}
	if err := t.row(ctx, "now", nil, &how.now); err != nil {
		return 0, err
	}
	held, err := readPlaces(ctx, t, "still_held", named("places", jsonPlaces(places)))
	if err != nil {
		return 0, err
	}
	result, err := leave(ctx, t, retry, held, how)
	if err != nil {
		return 0, err
	}
	return len(held), a.toAll(ctx, t, result.queues)
}
