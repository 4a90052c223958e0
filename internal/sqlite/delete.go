package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Delete removes what the deletion takes with all that belongs to it (L10), as
// [submission.DeleteStore] says. It looks before it asks for the writer, since there
// may be much to look at; what it found is tested again when it is deleted: as many
// entries as a part has at most in one transaction, more part by part. Of several
// deletions and large approvals of an organism one is under way.
func (s *Store) Delete(ctx context.Context, d submission.Deletion) ([]seqlease.AccessionVersion, error) {
	deleted, err := s.delete(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("delete entries of %s: %w", d.Organism, err)
	}
	return deleted, nil
}

func (s *Store) delete(ctx context.Context, d submission.Deletion) (deleted []seqlease.AccessionVersion, err error) {
	release, err := s.deciding.take(ctx, d.Organism)
	if err != nil {
		return nil, err
	}
	defer release()
	del := deletion{Deletion: d}
	if err := s.readLong(ctx, func(t *tx) error { return del.look(ctx, t) }); err != nil || len(del.found) == 0 {
		return nil, err
	}
	if len(del.found) > partEntries {
		return s.deleteMany(ctx, &del)
	}
	err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		deleted, err = del.few(ctx, t)
		return err
	})
	return deleted, err
}

// deletion is a deletion under way.
type deletion struct {
	submission.Deletion
	organism organismRow
	found    []namedEntry // in order of accession and version
}

// namedEntry is an entry with what it is called.
type namedEntry struct {
	id int64
	seqlease.AccessionVersion
}

// idsOf lists the ids of the entries.
func idsOf(entries []namedEntry) []int64 {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.id
	}
	return ids
}

func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// namesOf lists what the entries are called.
func namesOf(entries []namedEntry) []seqlease.AccessionVersion {
	list := make([]seqlease.AccessionVersion, len(entries))
	for i, e := range entries {
		list[i] = e.AccessionVersion
	}
	return list
}

// wantDeletable are the statuses of entries that may be deleted.
var wantDeletable = []seqlease.Status{seqlease.Received, seqlease.Processed}

// look finds what the deletion takes. Those that it names must exist, be of the
// organism, and be received or processed.
func (del *deletion) look(ctx context.Context, t *tx) (err error) {
	if del.organism, err = organismState(ctx, t, del.Organism); err != nil {
		return err
	}
	statement, args := "deletable_all", del.args(del.organism)
	if del.Entries != nil {
		rows, err := entryStates(ctx, t, del.Entries, del.organism.now)
		if err != nil {
			return err
		}
		if err := checkStates(rows, del.Organism, wantDeletable, false); err != nil {
			return err
		}
		statement, args = "deletable_listed", append(args, named("entries", jsonEntries(del.Entries))...)
	}
	del.found, err = readEntries(ctx, t, statement, args)
	return err
}

func readEntries(ctx context.Context, t *tx, statement string, args []any) ([]namedEntry, error) {
	var list []namedEntry
	err := t.rows(ctx, statement, args, func(scan func(...any) error) error {
		var e namedEntry
		err := scan(&e.id, &e.Accession, &e.Version)
		list = append(list, e)
		return err
	})
	return list, err
}

// args are those of the statements that tell what is deletable.
func (del *deletion) args(o organismRow) []any {
	return named("organism_id", o.id, "now", o.now, "scope", string(del.Scope), "group_ids", orNull(del.GroupIDs, jsonIDs))
}

// check returns what is wrong if the deletion named all of the entries and only those
// with these ids may be deleted still.
func (del *deletion) check(ctx context.Context, t *tx, entries []namedEntry, still map[int64]bool, now int64) error {
	if del.Entries == nil || len(still) == len(entries) {
		return nil
	}
	var others []seqlease.AccessionVersion
	for _, e := range entries {
		if !still[e.id] {
			others = append(others, e.AccessionVersion)
		}
	}
	rows, err := entryStates(ctx, t, others, now)
	if err != nil {
		return err
	}
	return checkStates(rows, del.Organism, wantDeletable, false)
}

// few deletes what was found in one transaction.
func (del *deletion) few(ctx context.Context, t *tx) ([]seqlease.AccessionVersion, error) {
	o, err := organismState(ctx, t, del.Organism)
	if err != nil {
		return nil, err
	}
	entries, err := readEntries(ctx, t, "deletable_listed", append(del.args(o), named("entries", jsonEntries(namesOf(del.found)))...))
	if err != nil {
		return nil, err
	}
	ids := idsOf(entries)
	if err := del.check(ctx, t, del.found, setOf(ids), o.now); err != nil || len(ids) == 0 {
		return nil, err
	}
	if err := deleteWork(ctx, t, del.organism.id, ids); err != nil {
		return nil, err
	}
	list := named("entry_ids", jsonIDs(ids))
	for _, statement := range []string{"delete_data", "delete_edited", "delete_failures", "delete_entries"} {
		if _, err := t.exec(ctx, statement, list...); err != nil {
			return nil, err
		}
	}
	if _, err := t.exec(ctx, "delete_runs", named("organism_id", del.organism.id)...); err != nil {
		return nil, err
	}
	deleted := namesOf(entries)
	return deleted, noteAction(ctx, t, del.organism.id, seqlease.AuditNote{User: del.User, Action: seqlease.ActionDelete, Named: deleted})
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
	return deletePlaces(ctx, t, args)
}

// deletePlaces ends all leases on the entries.
func deletePlaces(ctx context.Context, t *tx, args []any) error {
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
