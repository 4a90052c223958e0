package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// manyDeleted is how many entries a deletion has by name to count as one with much
// to write; without names it is one in any case.
const manyDeleted = 1000

// Delete removes what the deletion takes with all that belongs to it (L10), as
// [submission.DeleteStore] says, in one transaction.
func (s *Store) Delete(ctx context.Context, d submission.Deletion) ([]seqlease.AccessionVersion, error) {
	var deleted []seqlease.AccessionVersion
	err := s.send(ctx, &write{large: d.Entries == nil || len(d.Entries) > manyDeleted, fn: func(ctx context.Context, t *tx) (err error) {
		deleted, err = deleteEntries(ctx, t, d)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("delete entries of %s: %w", d.Organism, err)
	}
	return deleted, nil
}

func deleteEntries(ctx context.Context, t *tx, d submission.Deletion) ([]seqlease.AccessionVersion, error) {
	o, err := organismState(ctx, t, d.Organism)
	if err != nil {
		return nil, err
	}
	ids, deleted, err := deletable(ctx, t, o, d)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if err := deleteWork(ctx, t, o.id, ids); err != nil {
		return nil, err
	}
	list := named("entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_data", "delete_edited", "delete_failures", "delete_entries"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return nil, err
		}
	}
	if _, err := t.exec(ctx, "delete_runs", named("organism_id", o.id)...); err != nil {
		return nil, err
	}
	return deleted, noteAction(ctx, t, o.id, seqlease.AuditNote{User: d.User, Action: seqlease.ActionDelete, Named: deleted})
}

// deletable returns what the deletion takes, in order of accession and version.
// Those that it names must exist, be of the organism, and be received or processed.
func deletable(ctx context.Context, t *tx, o organismRow, d submission.Deletion) ([]int64, []seqlease.AccessionVersion, error) {
	statement := "deletable_all"
	args := named("organism_id", o.id, "now", o.now, "scope", string(d.Scope), "group_ids", orNull(d.GroupIDs, jsonIDs))
	if d.Entries != nil {
		rows, err := entryStates(ctx, t, d.Entries, o.now)
		if err != nil {
			return nil, nil, err
		}
		if err := checkStates(rows, d.Organism, []seqlease.Status{seqlease.Received, seqlease.Processed}, false); err != nil {
			return nil, nil, err
		}
		statement = "deletable_listed"
		args = append(args, named("entries", jsonEntries(d.Entries))...)
	}
	var ids []int64
	var entries []seqlease.AccessionVersion
	err := t.rows(ctx, statement, args, func(scan func(...any) error) error {
		var id int64
		var av seqlease.AccessionVersion
		err := scan(&id, &av.Accession, &av.Version)
		ids, entries = append(ids, id), append(entries, av)
		return err
	})
	return ids, entries, err
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
