package submission

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/organism"
)

// EditRequest is new data for a processed entry: no field and no
// sequence must be there.
type EditRequest struct {
	Organism seqlease.Organism
	seqlease.AccessionVersion
	Metadata map[string]string
	// Sequences are by FASTA id; nil is none under that id.
	Sequences map[string]*string
	// Files counts the attachments of each category. There can't be any.
	Files map[string]int
}

// EditStore stores edits.
type EditStore interface {
	// Edit replaces the submitted data of an entry: a new revision, results and
	// leases of the old one gone, tickets anew with 0 attempts (L10). What was
	// submitted first is kept. The state is re-tested under the entry's lock: the
	// error is a [*StateError] unless it is processed and no revocation. The audit
	// log names the entry.
	Edit(ctx context.Context, e Edit) error
}

// Edit is new submitted data for an entry.
type Edit struct {
	Organism seqlease.Organism
	User     string
	seqlease.AccessionVersion
	Data []byte // JSON document of a [seqlease.SubmittedData]
}

// Edit replaces the data of a processed entry, with errors or without, which then
// waits to be processed anew. The order of checks is the protocol's: organism
// ([seqlease.ErrUnknownOrganism]), the entry exists ([*StateError]), the person may
// act for its group ([seqlease.ErrForbidden]), it is processed, of the organism, and
// no revocation ([*StateError]), then the data ([*seqlease.InvalidError],
// [seqlease.ErrTooLarge]).
func (s *Submissions) Edit(ctx context.Context, p seqlease.Person, r EditRequest) error {
	o, err := s.organisms.Get(r.Organism)
	if err != nil {
		return err
	}
	found, err := s.mayChange(ctx, p, r.Organism, []seqlease.AccessionVersion{r.AccessionVersion}, seqlease.Processed)
	if err != nil {
		return err
	}
	if found[0].IsRevocation {
		return &StateError{Revocations: []seqlease.AccessionVersion{r.AccessionVersion}}
	}
	if err := r.check(o); err != nil {
		return err
	}
	data, err := submittedDocument{Metadata: r.Metadata, Sequences: r.Sequences}.encode()
	if err != nil {
		return err
	}
	if err := intake.CheckDocument(data); err != nil {
		return err
	}
	err = s.store.Edit(ctx, Edit{Organism: r.Organism, User: p.Name, AccessionVersion: r.AccessionVersion, Data: data})
	if err != nil {
		return fmt.Errorf("edit in %s: %w", r.Organism, err)
	}
	return nil
}

func (r EditRequest) check(o *organism.Organism) error {
	for _, category := range slices.Sorted(maps.Keys(r.Files)) {
		if fault := intake.AttachmentFault(o, category, r.Files[category]); fault != "" {
			return seqlease.Invalid(seqlease.Problem{Field: "data.files", Message: fault + ": leave files out, or send null"})
		}
	}
	return intake.CheckEdited(r.Metadata, r.Sequences)
}
