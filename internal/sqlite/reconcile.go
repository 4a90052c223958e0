package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease/internal/queue"
)

// Reconcile gives entries that have neither ticket, lease nor present result for
// a live version a ticket (L1, V4), as [queue.KeeperStore] says. Looking needs no
// writer; what was found is tested again when it is written.
func (s *Store) Reconcile(ctx context.Context, after int64, limit int) (added int, last int64, err error) {
	ids, last, err := s.forgotten(ctx, after, limit)
	if err == nil && len(ids) > 0 {
		added, err = s.enqueue(ctx, "reconcile_tickets", ids, nil)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reconcile entries after %d: %w", after, err)
	}
	return added, last, nil
}

// forgotten returns which of the next entries a live version has forgotten, and
// the last that it looked at.
func (s *Store) forgotten(ctx context.Context, after int64, limit int) (ids []int64, last int64, err error) {
	err = s.read(ctx, func(t *tx) error {
		var seen int
		if err := t.row(ctx, "reconcile_page", named("after", after, "limit", int64(limit)), &seen, &last); err != nil || seen == 0 {
			return err
		}
		ids, err = readIDs(ctx, t, "reconcile_find", named("after", after, "last", last))
		return err
	})
	return ids, last, err
}

// enqueue makes entries wait by a statement that takes their ids, and returns how
// many tickets it added. note, if set, notes in the transaction that they were some.
func (s *Store) enqueue(
	ctx context.Context, statement string, ids []int64, note func(ctx context.Context, t *tx, n int) error, args ...any,
) (int, error) {
	n := 0
	err := s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
		if n, err = makeWait(ctx, t, a, statement, ids, args...); err != nil || n == 0 || note == nil {
			return err
		}
		return note(ctx, t, n)
	})
	return n, err
}

// makeWait makes entries wait by a statement that takes their ids, and returns how many
// tickets it added.
func makeWait(ctx context.Context, t *tx, a *added, statement string, ids []int64, args ...any) (n int, err error) {
	queues := map[queueKey]int{}
	list := named("entry_ids", jsonIDs(ids))
	err = t.rows(ctx, statement, append(args, list...), func(scan func(...any) error) error {
		var key queueKey
		var lane queue.Lane
		err := scan(&key.organismID, &key.version, &lane)
		queues[key]++
		n++
		return err
	})
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := t.exec(ctx, "note_turns", list...); err != nil {
		return 0, err
	}
	return n, a.toAll(ctx, t, queues)
}

// readIDs reads the ids of entries.
func readIDs(ctx context.Context, t *tx, statement string, args []any) ([]int64, error) {
	var ids []int64
	err := t.rows(ctx, statement, args, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}
