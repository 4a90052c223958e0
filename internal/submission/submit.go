package submission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
)

// SubmitRequest is an upload of new entries.
type SubmitRequest struct {
	Organism seqlease.Organism
	GroupID  int64
	// TermsType and RestrictedUntil are as in the request: OPEN or RESTRICTED,
	// and a day YYYY-MM-DD. They are looked at only where terms are enabled.
	TermsType       string
	RestrictedUntil string
	Metadata        *intake.File // nil: none was sent
	Sequences       *intake.File // nil: none was sent
	// Large is [intake.Request.Large].
	Large func(context.Context) error
	// Check, if set, is that of these files.
	Check *Check
}

// Submit checks an upload and stores its entries, all or nothing, and returns
// the accessions in the order of the metadata file. The order of checks is the
// protocol's: organism ([seqlease.ErrUnknownOrganism]), group
// ([seqlease.ErrNotFound]), membership ([seqlease.ErrForbidden]), data use terms,
// files (both [*seqlease.InvalidError], or [seqlease.ErrTooLarge]).
func (s *Submissions) Submit(ctx context.Context, p seqlease.Person, r SubmitRequest) ([]seqlease.SubmissionIDMapping, error) {
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	_, members, err := s.store.Group(ctx, r.GroupID)
	if err != nil {
		return nil, fmt.Errorf("group %d: %w", r.GroupID, err)
	}
	if !p.Has(seqlease.SuperUser) && !slices.Contains(members, p.Name) {
		return nil, notMember(p, []int64{r.GroupID}, "")
	}
	terms, err := s.terms(ctx, r.TermsType, r.RestrictedUntil)
	if err != nil {
		return nil, err
	}
	entries, err := s.pack(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", r.Organism, err)
	}
	defer entries.close()
	stored, err := s.store.Submit(ctx, Upload{
		Organism: r.Organism, GroupID: r.GroupID, Submitter: p.Name, Terms: terms,
		AccessionPrefix: s.options.AccessionPrefix, Entries: entries.all(),
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", r.Organism, err)
	}
	return stored, nil
}

// terms reads the data use terms of an upload. Today is the database's (L11).
func (s *Submissions) terms(ctx context.Context, kind, until string) (seqlease.DataUseTerms, error) {
	open := seqlease.DataUseTerms{Type: seqlease.TermsOpen}
	if !s.options.DataUseTerms.Enabled {
		return open, nil
	}
	switch seqlease.TermsType(kind) {
	case seqlease.TermsOpen:
		return open, nil
	case seqlease.TermsRestricted:
	case "":
		return open, seqlease.InvalidParameter("dataUseTermsType", "dataUseTermsType is missing: write OPEN or RESTRICTED")
	default:
		return open, seqlease.InvalidParameter("dataUseTermsType", fmt.Sprintf("dataUseTermsType must be OPEN or RESTRICTED, not %q", kind))
	}
	if until == "" {
		return open, seqlease.InvalidParameter("restrictedUntil", "restrictedUntil is missing: RESTRICTED needs a day, YYYY-MM-DD")
	}
	day, err := time.Parse(time.DateOnly, until)
	if err != nil {
		return open, seqlease.InvalidParameter("restrictedUntil", fmt.Sprintf("restrictedUntil must be a day, YYYY-MM-DD, not %q", until))
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return open, fmt.Errorf("database clock: %w", err)
	}
	first := now.UTC().Truncate(24 * time.Hour)
	if last := first.AddDate(1, 0, 0); day.Before(first) || day.After(last) {
		return open, seqlease.InvalidParameter("restrictedUntil", fmt.Sprintf("restrictedUntil must be from today, %s, to a year from now, %s, not %s",
			first.Format(time.DateOnly), last.Format(time.DateOnly), until))
	}
	return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: day}, nil
}
