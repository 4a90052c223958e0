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
	ids := idsOf(rows)
	if err := deleteWork(ctx, t, o.id, ids); err != nil {
		return err
	}
	list := named("entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_data", "delete_edited", "delete_failures", "delete_entries"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return err
		}
	}
	return nil
}

// deleteWork takes the entries out of the queue: tickets, places in leases,
// results and quarantine of every pipeline version. Their leases note them as
// lost (L7).
func deleteWork(ctx context.Context, t *tx, organismID int64, ids []int64) error {
	if err := returnTurns(ctx, t, 0, ids); err != nil {
		return err
	}
	args := named("organism_id", organismID, "entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_tickets", "delete_results", "delete_quarantine"} {
		if _, err := t.exec(ctx, statement, args...); err != nil {
			return err
		}
	}
	places, err := readPlaces(ctx, t, "delete_leased", args)
	if err != nil || len(places) == 0 {
		return err
	}
	if _, err := t.exec(ctx, "note_lost", named("places", jsonPlaces(places))...); err != nil {
		return err
	}
	_, err = dropEmptyLeases(ctx, t, attemptsOf(places))
	return err
}
