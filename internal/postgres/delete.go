package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_deletable.sql
var lockDeletableSQL string

//go:embed sql/delete_entries.sql
var deleteEntriesSQL string

// deletionChunk is how many entries are removed with one round of statements, so
// that what the rounds return stays small. All are locked before, and go together.
const deletionChunk = 10_000

// Delete removes what the deletion takes with all that belongs to it (L10), as
// [submission.DeleteStore] says, in one transaction. Claims skip what it has locked.
func (s *Store) Delete(ctx context.Context, d submission.Deletion) ([]seqlease.AccessionVersion, error) {
	o, err := s.organism(ctx, d.Organism)
	if err != nil {
		return nil, err
	}
	if d.Entries == nil { // it lasts as long as there is data
		if err := s.shares.lists.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer s.shares.lists.Release(1)
	}
	var deleted []seqlease.AccessionVersion
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) (err error) {
			deleted, err = deleteEntries(ctx, tx, o.id, d)
			if err != nil || len(deleted) == 0 {
				return err
			}
			_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("delete entries of %s: %w", d.Organism, err)
	}
	slices.SortFunc(deleted, seqlease.AccessionVersion.Compare)
	return deleted, nil
}

func deleteEntries(ctx context.Context, tx pgx.Tx, organismID int32, d submission.Deletion) ([]seqlease.AccessionVersion, error) {
	var ids []int64 // nil: all
	if d.Entries != nil {
		locked, err := lockForDeletion(ctx, tx, organismID, d)
		if err != nil || len(locked.ids) == 0 {
			return nil, err
		}
		ids = locked.ids
	}
	locked, err := lockDeletable(ctx, tx, organismID, d, ids)
	if err != nil {
		return nil, err
	}
	var deleted []seqlease.AccessionVersion
	for chunk := range slices.Chunk(locked.ids, deletionChunk) {
		gone, err := locked.remove(ctx, tx, organismID, d, chunk)
		if err != nil {
			return nil, err
		}
		deleted = append(deleted, gone...)
	}
	return deleted, nil
}

// lockForDeletion locks the named entries, which must exist, be of the organism, and
// be received or processed.
func lockForDeletion(ctx context.Context, tx pgx.Tx, organismID int32, d submission.Deletion) (lockedEntries, error) {
	locked, err := lockEntries(ctx, tx, d.Organism, d.Entries)
	if err != nil {
		return locked, err
	}
	states, err := readStates(ctx, tx, organismID, locked.ids)
	if err != nil {
		return locked, err
	}
	locked.wantStatuses(states, seqlease.Received, seqlease.Processed)
	return locked, locked.err()
}

// lockDeletable locks what scope and groups may take, of the entries with the ids or
// else of all.
func lockDeletable(ctx context.Context, tx pgx.Tx, organismID int32, d submission.Deletion, ids []int64) (lockedEntries, error) {
	outcome := int16(-1)
	switch d.Scope {
	case seqlease.DeleteAll: // also what has no result
	case seqlease.DeleteWithErrors:
		outcome = outcomeOf(seqlease.HasErrors)
	case seqlease.DeleteWithWarnings:
		outcome = outcomeOf(seqlease.HasWarnings)
	}
	locked := lockedEntries{names: map[int64]seqlease.AccessionVersion{}}
	rows, err := tx.Query(ctx, lockDeletableSQL, planned, pgx.StrictNamedArgs{
		"organism": organismID, "ids": ids, "groups": d.GroupIDs, "outcome": outcome,
	})
	if err != nil {
		return locked, err
	}
	var id int64
	var av seqlease.AccessionVersion
	_, err = pgx.ForEachRow(rows, []any{&id, &av.Accession, &av.Version}, func() error {
		locked.ids, locked.names[id] = append(locked.ids, id), av
		return nil
	})
	return locked, err
}

// errStays undoes a removal.
var errStays = errors.New("one of the entries may not be deleted")

// remove removes those of the locked entries that the scope takes at this instant,
// and returns them. Taking them out of the queue waits for claims and results that
// are under way. What these have changed is known only then: it is undone, and done
// again without those that stay. Named entries must not have been claimed meanwhile.
func (l lockedEntries) remove(ctx context.Context, tx pgx.Tx, organismID int32, d submission.Deletion, ids []int64) ([]seqlease.AccessionVersion, error) {
	states, err := readStates(ctx, tx, organismID, ids)
	if err != nil {
		return nil, err
	}
	for {
		if d.Entries != nil {
			if err := l.claimed(ids, states); err != nil {
				return nil, err
			}
		}
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !d.Scope.Takes(states[id].status, states[id].result) })
		if len(ids) == 0 {
			return nil, nil
		}
		gone := make([]seqlease.AccessionVersion, len(ids))
		for i, id := range ids {
			gone[i] = l.names[id]
		}
		slices.SortFunc(gone, seqlease.AccessionVersion.Compare)
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			var err error
			if states, err = statesOutside(ctx, tx, organismID, ids); err != nil {
				return err
			}
			if slices.ContainsFunc(ids, func(id int64) bool { return !d.Scope.Takes(states[id].status, states[id].result) }) {
				return errStays
			}
			if _, err := tx.Exec(ctx, deleteEntriesSQL, pgx.StrictNamedArgs{"organism": organismID, "ids": ids}); err != nil {
				return err
			}
			return noteAction(ctx, tx, organismID, seqlease.AuditNote{User: d.User, Action: seqlease.ActionDelete, Named: gone})
		})
		if !errors.Is(err, errStays) {
			return gone, err
		}
	}
}

// statesOutside takes locked entries out of the queue and returns where they stand.
func statesOutside(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64) (map[int64]entryState, error) {
	_, running, err := leaveQueue(ctx, tx, organismID, 0, ids)
	if err != nil {
		return nil, err
	}
	return statesAfter(ctx, tx, organismID, ids, running)
}

// claimed returns which of the entries are in processing as a
// [*submission.StateError], or nil.
func (l lockedEntries) claimed(ids []int64, states map[int64]entryState) error {
	wrong := lockedEntries{ids: ids, names: l.names, wrong: &submission.StateError{
		WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{},
	}}
	wrong.wantStatuses(states, seqlease.Received, seqlease.Processed)
	return wrong.err()
}
