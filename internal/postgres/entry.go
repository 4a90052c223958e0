package postgres

import (
	"context"
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_entries.sql
var lockEntriesSQL string

//go:embed sql/entry_states.sql
var entryStatesSQL string

// lockedEntries are entries whose rows are locked, in order of id, and what was
// found wrong with the list of names.
type lockedEntries struct {
	ids   []int64
	names map[int64]seqlease.AccessionVersion
	wrong *submission.StateError
}

// lockEntries locks the named entries and notes those that are missing or of
// another organism.
func lockEntries(ctx context.Context, tx pgx.Tx, organism seqlease.Organism, entries []seqlease.AccessionVersion) (lockedEntries, error) {
	wanted := slices.SortedFunc(slices.Values(entries), seqlease.AccessionVersion.Compare)
	wanted = slices.Compact(wanted)
	accessions, versions := columns(wanted)
	locked := lockedEntries{
		names: make(map[int64]seqlease.AccessionVersion, len(wanted)),
		wrong: &submission.StateError{
			Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{}, WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{},
		},
	}
	found := make(map[seqlease.AccessionVersion]bool, len(wanted))
	rows, err := tx.Query(ctx, lockEntriesSQL, pgx.StrictNamedArgs{"accessions": accessions, "versions": versions})
	if err != nil {
		return locked, err
	}
	var id int64
	var av seqlease.AccessionVersion
	var of seqlease.Organism
	_, err = pgx.ForEachRow(rows, []any{&id, &av.Accession, &av.Version, &of}, func() error {
		found[av] = true
		if of != organism {
			locked.wrong.Foreign[of] = append(locked.wrong.Foreign[of], av)
			return nil
		}
		locked.ids, locked.names[id] = append(locked.ids, id), av
		return nil
	})
	if err != nil {
		return locked, err
	}
	for _, av := range wanted {
		if !found[av] {
			locked.wrong.Missing = append(locked.wrong.Missing, av)
		}
	}
	return locked, nil
}

func columns(entries []seqlease.AccessionVersion) (accessions []string, versions []int64) {
	accessions, versions = make([]string, len(entries)), make([]int64, len(entries))
	for i, av := range entries {
		accessions[i], versions[i] = string(av.Accession), int64(av.Version)
	}
	return accessions, versions
}

// entryState is what people see of an entry.
type entryState struct {
	status       seqlease.Status
	result       seqlease.ProcessingResult
	isRevocation bool
}

// readStates returns the states of locked entries at this instant.
func readStates(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64) (map[int64]entryState, error) {
	rows, err := tx.Query(ctx, entryStatesSQL, pgx.StrictNamedArgs{"organism": organismID, "ids": ids})
	if err != nil {
		return nil, err
	}
	return statesOf(rows, len(ids))
}

// statesOf reads the rows of as many entries at most.
func statesOf(rows pgx.Rows, entries int) (map[int64]entryState, error) {
	states := make(map[int64]entryState, entries)
	var id int64
	var status, outcome int
	var isRevocation bool
	_, err := pgx.ForEachRow(rows, []any{&id, &status, &outcome, &isRevocation}, func() error {
		states[id] = entryState{seqlease.Statuses()[status], seqlease.ProcessingResults()[outcome], isRevocation}
		return nil
	})
	return states, err
}

// wantStatuses notes the entries that have none of the statuses.
func (l lockedEntries) wantStatuses(states map[int64]entryState, allowed ...seqlease.Status) {
	for _, id := range l.ids {
		if status := states[id].status; !slices.Contains(allowed, status) {
			l.wrong.WrongStatus[l.names[id]] = status
			l.wrong.WantStatuses = allowed
		}
	}
}

// err returns everything that was found wrong, or nil.
func (l lockedEntries) err() error {
	if l.wrong.IsEmpty() {
		return nil
	}
	return l.wrong
}
