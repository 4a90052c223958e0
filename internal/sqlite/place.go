package sqlite

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// place is an entry's place in a lease.
type place struct {
	version   int64
	entryID   int64
	attemptID string // in hexadecimal
}

// maxPlaces is how many places a transaction moves at most, so that it doesn't
// keep other writers waiting for long.
const maxPlaces = 2000

// readPlaces reads places with a statement whose first columns are theirs.
func readPlaces(ctx context.Context, t *tx, statement string, args []any) ([]place, error) {
	var places []place
	err := t.rows(ctx, statement, args, func(scan func(...any) error) error {
		var p place
		err := scan(&p.version, &p.entryID, &p.attemptID)
		places = append(places, p)
		return err
	})
	return places, err
}

// jsonPlaces writes [[version,entry,"attempt"],…].
func jsonPlaces(places []place) string {
	return jsonList(places, func(b []byte, p place) []byte {
		b = strconv.AppendInt(append(b, '['), p.version, 10)
		b = strconv.AppendInt(append(b, ','), p.entryID, 10)
		return append(appendText(append(b, ','), p.attemptID), ']')
	})
}

// attemptsOf lists the attempts of the places once each.
func attemptsOf(places []place) []string {
	var list []string
	seen := map[string]bool{}
	for _, p := range places {
		if !seen[p.attemptID] {
			seen[p.attemptID] = true
			list = append(list, p.attemptID)
		}
	}
	return list
}

// leaving says how places are left.
type leaving struct {
	kind      queue.FailureKind
	reason    string
	uncounted bool  // the claim costs no attempt
	rank      int64 // of what goes to the fresh lane: only what isn't counted does
	now       int64
	lost      bool // the lease notes them as lost, if it goes on (L7)
}

// queueKey is the queue of a pipeline version.
type queueKey struct {
	organismID int64
	version    int64
}

// left is what leaving did.
type left struct {
	queues map[queueKey]int // claimable tickets that were added
	leases []queue.EndedLease
}

// leave makes the entries of the places wait again, each in its lane (L4, L8, L9),
// notes why, and ends the leases that hold nothing any more.
func leave(ctx context.Context, t *tx, retry queue.Retry, places []place, how leaving) (left, error) {
	result := left{queues: map[queueKey]int{}}
	if len(places) == 0 {
		return result, nil
	}
	list := sql.Named("places", jsonPlaces(places))
	uncounted := sql.Named("uncounted", how.uncounted)
	now := sql.Named("now", how.now)
	_, err := t.exec(ctx, "note_failures", append(named("kind", string(how.kind), "reason", how.reason), list, uncounted, now)...)
	if err != nil {
		return result, err
	}
	bounds := named("max_attempts", int64(retry.Attempts), "max_hand_outs", int64(retry.HandOuts),
		"alone_attempts", int64(queue.AloneAttempts), "rank", how.rank)
	err = t.rows(ctx, "wait_again", append(bounds, list, uncounted, now), func(scan func(...any) error) error {
		var key queueKey
		var lane queue.Lane
		err := scan(&key.organismID, &key.version, &lane)
		if lane != queue.LaneSpent {
			result.queues[key]++
		}
		return err
	})
	if err != nil {
		return result, err
	}
	result.leases, err = cut(ctx, t, places, how.lost)
	return result, err
}

// cut takes the places out of their leases and returns the leases that are gone
// since they hold nothing any more.
func cut(ctx context.Context, t *tx, places []place, lost bool) ([]queue.EndedLease, error) {
	list := sql.Named("places", jsonPlaces(places))
	if lost {
		if _, err := t.exec(ctx, "note_lost", list); err != nil {
			return nil, err
		}
	}
	if _, err := t.exec(ctx, "cut_places", list); err != nil {
		return nil, err
	}
	return dropEmptyLeases(ctx, t, attemptsOf(places))
}

// dropEmptyLeases drops those of the attempts' leases that hold nothing any
// more, and returns whose they were. The ids are in hexadecimal.
func dropEmptyLeases(ctx context.Context, t *tx, attempts []string) ([]queue.EndedLease, error) {
	var leases []queue.EndedLease
	err := t.rows(ctx, "drop_empty_leases", named("attempt_ids", jsonTexts(attempts)), func(scan func(...any) error) error {
		var l queue.EndedLease
		err := scan(&l.WorkerID, &l.ClaimedBy)
		leases = append(leases, l)
		return err
	})
	return leases, err
}

// returnTurns gives the turns of waiting entries that leave the queue of the
// version (0: every one) back to their groups: those that were never used would
// make the groups wait for nothing (L17). It comes before anything else is changed.
func returnTurns(ctx context.Context, t *tx, version int64, ids []int64) error {
	_, err := t.exec(ctx, "return_turns", named("pipeline_version", version, "entry_ids", jsonIDs(ids))...)
	return err
}

// idsByVersion lists the entries of the places by pipeline version.
func idsByVersion(places []place) map[int64][]int64 {
	ids := map[int64][]int64{}
	for _, p := range places {
		ids[p.version] = append(ids[p.version], p.entryID)
	}
	return ids
}

// attempt is an attempt id as statements take it.
func attempt(id seqlease.AttemptID) sql.NamedArg { return sql.Named("attempt_id", id[:]) }
