package submission

import (
	"context"
	"fmt"
	"math"

	"github.com/seqlease/seqlease"
)

// ListRequest says which entries to list. Nil lists take everything that the
// person may see, empty ones nothing.
type ListRequest struct {
	Organism seqlease.Organism
	GroupIDs []int64
	Statuses []seqlease.Status
	// Results restricts only entries whose status is processed.
	Results []seqlease.ProcessingResult
	// Page (from 0) and Size take effect only together.
	Page *int
	Size *int
}

// List calls yield for each entry version, by accession and version, and returns
// the counts over everything that the organism and group filter take, all from
// one snapshot. yield must not wait for a client (L12): write to a [spool.File].
// Errors: [*seqlease.InvalidError], [seqlease.ErrUnknownOrganism],
// [seqlease.ErrNotFound] and [seqlease.ErrForbidden] for the groups, and that of yield.
func (s *Submissions) List(ctx context.Context, p seqlease.Person, r ListRequest, yield func(ListedEntry) error) (Counts, error) {
	filter := ListFilter{Organism: r.Organism, Statuses: r.Statuses, Results: r.Results}
	if err := r.page(&filter); err != nil {
		return Counts{}, err
	}
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return Counts{}, err
	}
	var err error
	if filter.GroupIDs, err = s.visibleGroups(ctx, p, r.GroupIDs); err != nil {
		return Counts{}, err
	}
	counts, err := s.store.List(ctx, filter, yield)
	if err != nil {
		return Counts{}, fmt.Errorf("list entries of %s: %w", r.Organism, err)
	}
	return complete(counts), nil
}

// page sets what part of the list is wanted.
func (r ListRequest) page(f *ListFilter) error {
	for name, value := range map[string]*int{"page": r.Page, "size": r.Size} {
		if value != nil && *value < 0 {
			return seqlease.InvalidParameter(name, fmt.Sprintf("%s must be 0 or more, not %d", name, *value))
		}
	}
	if r.Page == nil || r.Size == nil {
		return nil
	}
	page, size := *r.Page, *r.Size
	if size == 0 || page > math.MaxInt32/size {
		f.Statuses = []seqlease.Status{} // nothing can be there; the counts still are wanted
		return nil
	}
	f.Offset, f.Limit = page*size, size
	return nil
}

// complete returns counts that name every status and result.
func complete(c Counts) Counts {
	all := Counts{Statuses: map[seqlease.Status]int64{}, Results: map[seqlease.ProcessingResult]int64{}}
	for _, status := range seqlease.Statuses() {
		all.Statuses[status] = c.Statuses[status]
	}
	for _, result := range seqlease.ProcessingResults() {
		all.Results[result] = c.Results[result]
	}
	return all
}
