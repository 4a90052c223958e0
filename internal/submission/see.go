package submission

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease"
)

// MaySee returns nil if the person may see what happens to the entry inside: a
// member of its group or a super user. To anybody else it doesn't exist:
// [UnknownEntry]. That it really doesn't is for the caller to find out.
func (s *Submissions) MaySee(ctx context.Context, p seqlease.Person, o seqlease.Organism, entry seqlease.AccessionVersion) error {
	if _, err := s.organisms.Get(o); err != nil {
		return err
	}
	if !seqlease.IsStorable(string(entry.Accession)) {
		return UnknownEntry(o, entry)
	}
	err := s.mayActFor(ctx, p, []seqlease.AccessionVersion{entry})
	if errors.Is(err, seqlease.ErrForbidden) {
		return UnknownEntry(o, entry)
	}
	return err
}

// UnknownEntry is what is answered for an entry that doesn't exist, or that who
// asks may not know of.
func UnknownEntry(o seqlease.Organism, entry seqlease.AccessionVersion) error {
	return seqlease.Explain(seqlease.ErrNotFound, "there is no entry %s of %s in a group that you are a member of", entry, o)
}
