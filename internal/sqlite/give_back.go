package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease/internal/queue"
)

// GiveBack ends the attempt's lease, or cuts entries from it, and makes them wait
// again (L8), as [queue.Store] says. A large lease is given back in several
// transactions, from its first entries on.
func (s *Store) GiveBack(ctx context.Context, g queue.GiveBack) (int, error) {
	n, err := s.giveBackAll(ctx, g)
	if err == nil && n == 0 && !g.Undelivered && !g.Damaged {
		err = s.holdsSomething(ctx, g)
	}
	if err != nil {
		return n, fmt.Errorf("give back attempt %s: %w", g.AttemptID, err)
	}
	return n, nil
}

// holdsSomething says that the lease is lost unless the attempt and its user hold
// something.
func (s *Store) holdsSomething(ctx context.Context, g queue.GiveBack) error {
	var organismID, version, now int64
	err := s.readOnce().row(ctx, "give_back_state", giveBackArgs(g), &organismID, &version, &now)
	if errors.Is(err, sql.ErrNoRows) {
		return queue.GiveBackLost(g)
	}
	return storeError(err)
}

func (s *Store) giveBackAll(ctx context.Context, g queue.GiveBack) (int, error) {
	rest := g.Entries
	all := 0
	var rank *int64 // of all parts; nil: none was written
	for more := true; more; {
		part := g
		if g.Entries != nil {
			part.Entries = rest[:min(len(rest), maxPlaces)]
		}
		returned, chosen := 0, rank
		err := s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
			returned, chosen, err = giveBack(ctx, t, a, s.retry, part, rank)
			return err
		})
		if err != nil {
			return all, err
		}
		all, rank = all+returned, chosen
		if more = returned == maxPlaces; g.Entries != nil {
			rest = rest[len(part.Entries):]
			more = len(rest) > 0
		}
	}
	return all, nil
}

func giveBackArgs(g queue.GiveBack) []any {
	args := named("undelivered", g.Undelivered, "of_server", g.Undelivered || g.Damaged, "claimed_by", g.ClaimedBy, "organism", nil)
	if g.Organism != "" {
		args[3] = sql.Named("organism", string(g.Organism))
	}
	return append(args, attempt(g.AttemptID))
}

// giveBack returns how many entries it gave back, and at which rank: the given one, or
// if that is nil the first.
func giveBack(ctx context.Context, t *tx, a *added, retry queue.Retry, g queue.GiveBack, rank *int64) (int, *int64, error) {
	var key queueKey
	how := leaving{kind: queue.FailureGivenBack, reason: shorten(g.Reason), uncounted: !g.CountsAsAttempt}
	err := t.row(ctx, "give_back_state", giveBackArgs(g), &key.organismID, &key.version, &how.now)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, rank, nil
	}
	if err != nil {
		return 0, rank, err
	}
	switch {
	case g.Undelivered:
		how.kind = queue.FailureUndelivered
	case g.Damaged:
		how.kind = queue.FailureDamaged
	}
	statement, args := "give_back_places", []any{attempt(g.AttemptID), sql.Named("entries", int64(maxPlaces))}
	if g.Entries != nil {
		statement, args = "give_back_listed", []any{attempt(g.AttemptID), sql.Named("entries", jsonEntries(g.Entries))}
	}
	places, err := readPlaces(ctx, t, statement, args)
	if err != nil || len(places) == 0 {
		return 0, rank, err
	}
	if rank == nil {
		var first int64
		if err := t.row(ctx, "first_rank", named("organism_id", key.organismID, "pipeline_version", key.version), &first); err != nil {
			return 0, nil, err
		}
		first-- // what nobody could work on goes before everything else
		rank = &first
	}
	how.rank = *rank
	if _, err := leave(ctx, t, retry, places, how); err != nil {
		return 0, rank, err
	}
	return len(places), rank, a.to(ctx, t, key.organismID, key.version)
}
