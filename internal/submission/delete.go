package submission

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
)

// DeleteRequest says which entries to delete. Nil filters take everything that the
// person may act for; empty ones take nothing.
type DeleteRequest struct {
	Organism seqlease.Organism
	Scope    seqlease.DeletionScope
	Entries  []seqlease.AccessionVersion
	GroupIDs []int64
}

// DeleteStore deletes entries.
type DeleteStore interface {
	// Delete removes the entries that the deletion takes with all that belongs to
	// them, but for the history of the accession's terms, and returns them in order.
	// All or nothing. Status and result are re-tested under the entries' locks: what
	// is in processing or released stays. With a filter that names an entry which
	// doesn't exist, is of another organism, or is neither received nor processed,
	// nothing is deleted and the error is a [*StateError]; scope and groups don't
	// narrow these checks. Leases on what is deleted end (L10). The audit log names
	// each entry.
	Delete(ctx context.Context, d Deletion) ([]seqlease.AccessionVersion, error)
}

// Deletion says which received or processed entries to delete. Nil filters take
// everything.
type Deletion struct {
	Organism seqlease.Organism
	User     string
	Scope    seqlease.DeletionScope
	Entries  []seqlease.AccessionVersion // each once; nil: all
	GroupIDs []int64                     // nil: all; empty: none
}

// Delete deletes entries that are received or processed, and returns them in order;
// there may be none. Entries that are named must exist ([*StateError]), the person
// must be able to act for their groups ([seqlease.ErrForbidden]), and they must be
// received or processed and of the organism ([*StateError]), else nothing is deleted.
// Then the group filter is looked at ([seqlease.ErrNotFound], [seqlease.ErrForbidden]).
func (s *Submissions) Delete(ctx context.Context, p seqlease.Person, r DeleteRequest) ([]seqlease.AccessionVersion, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	d := Deletion{Organism: r.Organism, User: p.Name, Scope: r.Scope, Entries: distinct(r.Entries), GroupIDs: r.GroupIDs}
	if err := s.mayDelete(ctx, p, &d); err != nil {
		return nil, err
	}
	if d.Entries != nil && len(d.Entries) == 0 || d.GroupIDs != nil && len(d.GroupIDs) == 0 {
		return []seqlease.AccessionVersion{}, nil
	}
	deleted, err := s.store.Delete(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("delete in %s: %w", r.Organism, err)
	}
	return deleted, nil
}

func (r DeleteRequest) check() error {
	if !slices.Contains(seqlease.DeletionScopes(), r.Scope) {
		return seqlease.InvalidParameter("scope", fmt.Sprintf("scope must be one of %v, not %.40q", seqlease.DeletionScopes(), r.Scope))
	}
	for _, entry := range r.Entries {
		if fault := entry.Accession.Fault(); fault != "" {
			return seqlease.InvalidParameter("accessionVersionsFilter", fmt.Sprintf("accessionVersionsFilter names %.80q, which %s", entry.Accession, fault))
		}
	}
	return nil
}

// mayDelete checks states and permissions and sets the group filter of the deletion.
func (s *Submissions) mayDelete(ctx context.Context, p seqlease.Person, d *Deletion) error {
	if d.Entries == nil {
		var err error
		d.GroupIDs, err = s.visibleGroups(ctx, p, d.GroupIDs)
		return err
	}
	if _, err := s.mayChange(ctx, p, d.Organism, d.Entries, seqlease.Received, seqlease.Processed); err != nil {
		return err
	}
	if d.GroupIDs == nil {
		return nil
	}
	_, err := s.visibleGroups(ctx, p, d.GroupIDs)
	return err
}
