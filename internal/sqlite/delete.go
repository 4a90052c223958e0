package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// Delete removes entries with all that belongs to them (L10), all or nothing.
// The error is a [*submission.StateError] unless each is received or processed.
func (s *Store) Delete(ctx context.Context, o seqlease.Organism, entries []seqlease.AccessionVersion) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error { return deleteEntries(ctx, t, o, entries) })
	if err != nil {
		return fmt.Errorf("delete entries of %s: %w", o, err)
	}
	return nil
}

func deleteEntries(ctx context.Context, t *tx, key seqlease.Organism, entries []seqlease.AccessionVersion) error {
	o, err := organismState(ctx, t, key)
	if err != nil {
		return err
	}
	rows, err := entryStates(ctx, t, entries, o.now)
	if err != nil {
		return err
	}
	if err := checkStates(rows, key, []seqlease.Status{seqlease.Received, seqlease.Processed}, false); err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	if err := deleteWork(ctx, t, o.id, ids); err != nil {
		return err
	}
	list := named("entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_data", "delete_edited", "delete_entries"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return err
		}
	}
	return nil
}

// deleteWork takes the entries out of the queue: tickets, places in leases and
// results of every pipeline version.
func deleteWork(ctx context.Context, t *tx, organismID int64, ids []int64) error {
	args := named("organism_id", organismID, "entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_tickets", "delete_results"} {
		if _, err := t.exec(ctx, statement, args...); err != nil {
			return err
		}
	}
	attempts := map[string]bool{}
	err := t.rows(ctx, "delete_leased", args, func(scan func(...any) error) error {
		var attempt string
		err := scan(&attempt)
		attempts[attempt] = true
		return err
	})
	if err != nil || len(attempts) == 0 {
		return err
	}
	list := make([]string, 0, len(attempts))
	for attempt := range attempts {
		list = append(list, attempt)
	}
	return dropEmptyLeases(ctx, t, list)
}
