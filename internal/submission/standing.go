package submission

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
)

// Standing is where an entry version stands at an instant.
type Standing struct {
	seqlease.AccessionVersion
	Organism     seqlease.Organism
	GroupID      int64
	Status       seqlease.Status
	Result       seqlease.ProcessingResult // empty while in processing
	IsRevocation bool
}

// StandingStore reads where entries of any organism stand. What is decided by it is
// tested again by the statement that writes.
type StandingStore interface {
	// Standings returns where the entries stand at this instant, by accession and
	// version. Those that don't exist are left out. The list names each once.
	Standings(ctx context.Context, entries []seqlease.AccessionVersion) ([]Standing, error)
	// NewestStandings returns where the highest version of each accession stands, by
	// accession. Those that don't exist are left out. The list names each once.
	NewestStandings(ctx context.Context, accessions []seqlease.Accession) ([]Standing, error)
}

// mayChange finds the entries and makes the protocol's common checks in their
// order: each exists, the person may act for its group ([seqlease.ErrForbidden]), it
// has one of the allowed statuses (none are given: any), it is of the organism. The
// list names each entry once. All but the second error are a [*StateError].
func (s *Submissions) mayChange(
	ctx context.Context, p seqlease.Person, o seqlease.Organism, entries []seqlease.AccessionVersion, allowed ...seqlease.Status,
) ([]Standing, error) {
	found, err := s.store.Standings(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("where %d entries stand: %w", len(entries), err)
	}
	if missing := missingOf(entries, found); len(missing) > 0 {
		return nil, &StateError{Missing: missing}
	}
	return found, s.mayChangeFound(ctx, p, o, found, allowed...)
}

func missingOf(entries []seqlease.AccessionVersion, found []Standing) []seqlease.AccessionVersion {
	exists := make(map[seqlease.AccessionVersion]bool, len(found))
	for _, st := range found {
		exists[st.AccessionVersion] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(av seqlease.AccessionVersion) bool { return exists[av] })
}

// mayChangeFound is mayChange for entries that exist.
func (s *Submissions) mayChangeFound(ctx context.Context, p seqlease.Person, o seqlease.Organism, found []Standing, allowed ...seqlease.Status) error {
	groupOf := make(map[seqlease.AccessionVersion]int64, len(found))
	for _, st := range found {
		groupOf[st.AccessionVersion] = st.GroupID
	}
	if err := s.mayActForGroups(ctx, p, groupOf); err != nil {
		return err
	}
	return faultsOf(o, found, allowed...)
}

// faultsOf returns which of the entries have none of the allowed statuses, or else
// which are of another organism, or nil.
func faultsOf(o seqlease.Organism, found []Standing, allowed ...seqlease.Status) error {
	wrong := &StateError{
		Foreign: map[seqlease.Organism][]seqlease.AccessionVersion{}, WrongStatus: map[seqlease.AccessionVersion]seqlease.Status{},
		WantStatuses: allowed,
	}
	for _, st := range found {
		if len(allowed) > 0 && !slices.Contains(allowed, st.Status) {
			wrong.WrongStatus[st.AccessionVersion] = st.Status
		}
	}
	if !wrong.IsEmpty() {
		return wrong
	}
	for _, st := range found {
		if st.Organism != o {
			wrong.Foreign[st.Organism] = append(wrong.Foreign[st.Organism], st.AccessionVersion)
		}
	}
	if !wrong.IsEmpty() {
		return wrong
	}
	return nil
}
