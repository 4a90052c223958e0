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
	wrong := &StateError{WantStatuses: allowed}
	for _, st := range found {
		wrong.judge(o, st)
	}
	return wrong.inOrder()
}

// judge notes an entry that has none of the wanted statuses (none are wanted: any has),
// or else is of another organism.
func (e *StateError) judge(o seqlease.Organism, st Standing) {
	switch {
	case len(e.WantStatuses) > 0 && !slices.Contains(e.WantStatuses, st.Status):
		if e.WrongStatus == nil {
			e.WrongStatus = map[seqlease.AccessionVersion]seqlease.Status{}
		}
		e.WrongStatus[st.AccessionVersion] = st.Status
	case st.Organism != o:
		if e.Foreign == nil {
			e.Foreign = map[seqlease.Organism][]seqlease.AccessionVersion{}
		}
		e.Foreign[st.Organism] = append(e.Foreign[st.Organism], st.AccessionVersion)
	}
}

// inOrder returns a [*StateError] with the first kind of fault that was noted, in the
// protocol's order: exists, state, organism. It is nil without one.
func (e *StateError) inOrder() error {
	switch {
	case len(e.Unknown) > 0:
		return &StateError{Unknown: e.Unknown}
	case len(e.WrongStatus) > 0:
		return &StateError{WrongStatus: e.WrongStatus, WantStatuses: e.WantStatuses}
	case len(e.Foreign) > 0:
		return &StateError{Foreign: e.Foreign}
	default:
		return nil
	}
}

// NewVersionCheck finds out what keeps accessions, of which there may be very many, from
// getting another version, by a revision or a revocation: their highest versions must be
// released entries of the organism. It is also for stores, which look again under the locks.
type NewVersionCheck struct {
	Organism seqlease.Organism
	wrong    StateError
}

// Add looks at some accessions, of which the highest versions were found to stand so.
func (c *NewVersionCheck) Add(accessions []seqlease.Accession, found []Standing) {
	c.wrong.WantStatuses = []seqlease.Status{seqlease.ApprovedForRelease}
	c.wrong.Unknown = append(c.wrong.Unknown, unknownOf(accessions, found)...)
	for _, st := range found {
		c.wrong.judge(c.Organism, st)
	}
}

// exists returns a [*StateError] that names the accessions that don't exist, or nil.
func (c *NewVersionCheck) exists() error {
	if len(c.wrong.Unknown) == 0 {
		return nil
	}
	return &StateError{Unknown: c.wrong.Unknown}
}

// Err returns a [*StateError] with the first kind of fault that was found, in the
// protocol's order for accessions: exists, state, organism. It is nil without one.
func (c *NewVersionCheck) Err() error { return c.wrong.inOrder() }

// RevokeFaults returns what a [NewVersionCheck] says of all the accessions of a
// revocation at once.
func RevokeFaults(o seqlease.Organism, accessions []seqlease.Accession, found []Standing) error {
	check := NewVersionCheck{Organism: o}
	check.Add(accessions, found)
	return check.Err()
}

// InOrderOf returns the standings of the accessions in their order; the zero one where
// none was found.
func InOrderOf(accessions []seqlease.Accession, found []Standing) []Standing {
	of := make(map[seqlease.Accession]Standing, len(found))
	for _, st := range found {
		of[st.Accession] = st
	}
	list := make([]Standing, len(accessions))
	for i, accession := range accessions {
		list[i] = of[accession]
	}
	return list
}

func unknownOf(accessions []seqlease.Accession, found []Standing) []seqlease.Accession {
	if len(found) == len(accessions) {
		return nil
	}
	exists := make(map[seqlease.Accession]bool, len(found))
	for _, st := range found {
		exists[st.Accession] = true
	}
	return slices.DeleteFunc(slices.Clone(accessions), func(a seqlease.Accession) bool { return exists[a] })
}
