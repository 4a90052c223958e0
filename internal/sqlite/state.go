package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// entryRow is where an entry stands at an instant.
type entryRow struct {
	seqlease.AccessionVersion
	id           int64 // 0: doesn't exist
	of           seqlease.Organism
	status       seqlease.Status
	result       seqlease.ProcessingResult // of processed entries
	isRevocation bool
}

// entryStates returns where the entries stand at the instant.
func entryStates(ctx context.Context, t *tx, entries []seqlease.AccessionVersion, now int64) ([]entryRow, error) {
	list := make([]entryRow, 0, len(entries))
	args := named("entries", jsonEntries(entries), "now", now)
	err := t.rows(ctx, "entry_states", args, func(scan func(...any) error) error {
		var e entryRow
		var id sql.NullInt64
		var of, outcome sql.NullString
		var released, revocation, leased sql.NullBool
		if err := scan(&e.Accession, &e.Version, &id, &of, &released, &revocation, &outcome, &leased); err != nil {
			return err
		}
		e.id, e.of = id.Int64, seqlease.Organism(of.String)
		e.result, e.isRevocation = seqlease.ProcessingResult(outcome.String), revocation.Bool
		if revocation.Bool && !released.Bool {
			e.result = seqlease.NoIssues
		}
		e.status = statusOf(released.Bool, revocation.Bool || outcome.Valid, leased.Bool)
		list = append(list, e)
		return nil
	})
	return list, err
}

// statusOf returns the status of an entry by what is known of it; processed are also
// revocations.
func statusOf(released, processed, leased bool) seqlease.Status {
	switch {
	case released:
		return seqlease.ApprovedForRelease
	case processed:
		return seqlease.Processed
	case leased:
		return seqlease.InProcessing
	default:
		return seqlease.Received
	}
}

// checkStates returns what is wrong with the entries for an action of the
// organism that wants one of these statuses, as a [*submission.StateError], or nil.
func checkStates(rows []entryRow, o seqlease.Organism, want []seqlease.Status, refuseErrors bool) error {
	e := &submission.StateError{
		Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{}, WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{},
		WantStatuses: want,
	}
	for _, r := range rows {
		switch {
		case r.id == 0:
			e.Missing = append(e.Missing, r.AccessionVersion)
		case r.of != o:
			e.Foreign[r.of] = append(e.Foreign[r.of], r.AccessionVersion)
		case !slices.Contains(want, r.status):
			e.WrongStatus[r.AccessionVersion] = r.status
		case refuseErrors && r.result == seqlease.HasErrors:
			e.WithErrors = append(e.WithErrors, r.AccessionVersion)
		}
	}
	if e.IsEmpty() {
		return nil
	}
	return e
}

// GroupsOfEntries returns the groups that the given entries belong to; entries
// that don't exist are left out.
func (s *Store) GroupsOfEntries(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]int64, error) {
	groups := make(map[seqlease.AccessionVersion]int64, len(entries))
	err := s.readOnce().rows(ctx, "groups_of_entries", named("entries", jsonEntries(entries)), func(scan func(...any) error) error {
		var av seqlease.AccessionVersion
		var group int64
		err := scan(&av.Accession, &av.Version, &group)
		groups[av] = group
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("groups of entries: %w", storeError(err))
	}
	return groups, nil
}
