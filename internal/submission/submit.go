package submission

import (
	"context"
	"fmt"
	"slices"

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
	// Key, if set, is what the client calls this upload: one that was stored under it is
	// answered again, for whoever may still act for the group.
	Key *UploadKey
}

func (r SubmitRequest) files() files {
	return files{organism: r.Organism, metadata: r.Metadata, sequences: r.Sequences, large: r.Large, check: r.Check}
}

// Submit checks an upload and stores its entries, all or nothing, and returns
// the accessions in the order of the metadata file. The order of checks is the
// protocol's: organism ([seqlease.ErrUnknownOrganism]), group
// ([seqlease.ErrNotFound]), membership ([seqlease.ErrForbidden]), key, data use terms,
// files (these three [*seqlease.InvalidError], or [seqlease.ErrTooLarge]).
func (s *Submissions) Submit(ctx context.Context, p seqlease.Person, r SubmitRequest) ([]seqlease.SubmissionIDMapping, error) {
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	_, members, err := s.store.Group(ctx, r.GroupID)
	if err != nil {
		return nil, fmt.Errorf("group %d: %w", r.GroupID, err)
	}
	if !p.Has(seqlease.SuperUser) && !slices.Contains(members, p.Name) {
		return nil, notMember(p, []int64{r.GroupID}, nil)
	}
	if made, stored, err := s.storedUpload(ctx, p, r.Key); stored || err != nil {
		return made, err
	}
	terms, err := s.uploadTerms(ctx, r.TermsType, r.RestrictedUntil)
	if err != nil {
		return nil, err
	}
	checked, err := s.check(ctx, r.files())
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", r.Organism, err)
	}
	entries, err := s.pack(ctx, r.Organism, checked)
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", r.Organism, err)
	}
	defer entries.close()
	stored, err := s.store.Submit(ctx, Upload{
		Organism: r.Organism, GroupID: r.GroupID, Submitter: p.Name, Terms: terms,
		AccessionPrefix: s.options.AccessionPrefix, Entries: entries.all(), Key: r.Key,
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", r.Organism, err)
	}
	return stored, nil
}
