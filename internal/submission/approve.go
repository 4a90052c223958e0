package submission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
)

// ApproveRequest says which processed entries to release. Nil filters take
// everything that the person may act for; empty ones take nothing.
type ApproveRequest struct {
	Organism   seqlease.Organism
	Scope      seqlease.ApprovalScope
	Entries    []seqlease.AccessionVersion
	GroupIDs   []int64
	Submitters []string
}

// Approve releases entries and returns them in order; there may be none. Entries
// that are named must all exist, be of the organism, be processed and have no
// errors ([*StateError]), and the person must be able to act for their groups
// ([seqlease.ErrForbidden]), else nothing is released. Then the group filter is
// looked at ([seqlease.ErrNotFound], [seqlease.ErrForbidden]).
func (s *Submissions) Approve(ctx context.Context, p seqlease.Person, r ApproveRequest) ([]seqlease.AccessionVersion, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	approval := Approval{
		Organism: r.Organism, Approver: p.Name, Scope: r.Scope, Entries: distinct(r.Entries),
		GroupIDs: r.GroupIDs, Submitters: r.Submitters,
	}
	refused := s.mayApprove(ctx, p, &approval)
	if refused != nil && !errors.Is(refused, seqlease.ErrForbidden) && !errors.Is(refused, seqlease.ErrNotFound) {
		return nil, refused
	}
	if refused != nil {
		if len(approval.Entries) == 0 {
			return nil, refused
		}
		approval.GroupIDs = []int64{} // releases nothing, but tells faults of the entries, which come first
	}
	if approval.Entries != nil && len(approval.Entries) == 0 {
		return []seqlease.AccessionVersion{}, nil
	}
	approved, err := s.store.Approve(ctx, approval)
	if err != nil {
		return nil, fmt.Errorf("approve in %s: %w", r.Organism, err)
	}
	if refused != nil {
		return nil, refused
	}
	return approved, nil
}

func (r ApproveRequest) check() error {
	if r.Scope != seqlease.ApproveAll && r.Scope != seqlease.ApproveWithoutWarnings {
		return seqlease.InvalidParameter("scope", fmt.Sprintf("scope must be %s or %s, not %q", seqlease.ApproveAll, seqlease.ApproveWithoutWarnings, r.Scope))
	}
	for _, entry := range r.Entries {
		if !seqlease.IsStorable(string(entry.Accession)) {
			return seqlease.Invalid(seqlease.Problem{Field: "accessionVersionsFilter", Message: fmt.Sprintf("no accession can be %q", entry.Accession)})
		}
	}
	for _, name := range r.Submitters {
		if !seqlease.IsStorable(name) {
			return seqlease.Invalid(seqlease.Problem{Field: "submitterNamesFilter", Message: fmt.Sprintf("no submitter can be called %q", name)})
		}
	}
	return nil
}

// mayApprove checks the permissions and sets the group filter of the approval.
func (s *Submissions) mayApprove(ctx context.Context, p seqlease.Person, a *Approval) error {
	if a.Entries == nil {
		var err error
		a.GroupIDs, err = s.visibleGroups(ctx, p, a.GroupIDs)
		return err
	}
	if err := s.mayActFor(ctx, p, a.Entries); err != nil {
		return err
	}
	if a.GroupIDs == nil {
		return nil
	}
	_, err := s.visibleGroups(ctx, p, a.GroupIDs)
	return err
}

// mayActFor is the permission check of the protocol: [seqlease.ErrForbidden]
// unless the person is a super user or in the group of every entry. Entries that
// don't exist are not its business.
func (s *Submissions) mayActFor(ctx context.Context, p seqlease.Person, entries []seqlease.AccessionVersion) error {
	if p.Has(seqlease.SuperUser) || len(entries) == 0 {
		return nil
	}
	groupOf, err := s.store.GroupsOfEntries(ctx, entries)
	if err != nil {
		return fmt.Errorf("groups of entries: %w", err)
	}
	return s.mayActForGroups(ctx, p, groupOf)
}

// mayActForGroups is mayActFor for entries whose groups are known.
func (s *Submissions) mayActForGroups(ctx context.Context, p seqlease.Person, groupOf map[seqlease.AccessionVersion]int64) error {
	if p.Has(seqlease.SuperUser) || len(groupOf) == 0 {
		return nil
	}
	own, err := s.store.GroupsOf(ctx, p.Name)
	if err != nil {
		return fmt.Errorf("groups of %q: %w", p.Name, err)
	}
	isOwn := map[int64]bool{}
	for _, group := range own {
		isOwn[group.GroupID] = true
	}
	var foreign []int64
	var affected []seqlease.AccessionVersion
	for entry, group := range groupOf {
		if !isOwn[group] {
			foreign, affected = append(foreign, group), append(affected, entry)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return notMember(p, without(foreign, nil), affected)
}

// distinct returns the entries in order, once each; nil for nil.
func distinct(entries []seqlease.AccessionVersion) []seqlease.AccessionVersion {
	if entries == nil {
		return nil
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, seqlease.AccessionVersion.Compare)
	return slices.Compact(sorted)
}
