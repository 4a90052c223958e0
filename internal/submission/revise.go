package submission

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
)

// ReviseRequest is an upload of new versions of released entries.
type ReviseRequest struct {
	Organism  seqlease.Organism
	Metadata  *intake.File // nil: none was sent
	Sequences *intake.File // nil: none was sent
	// Large is [intake.Request.Large].
	Large func(context.Context) error
	// Check, if set, is that of these files.
	Check *Check
	// Key, if set, is what the client calls this upload: one that was stored under it is
	// answered again, for whoever may still act for the groups of its entries.
	Key *UploadKey
}

func (r ReviseRequest) files() files {
	return files{organism: r.Organism, revision: true, metadata: r.Metadata, sequences: r.Sequences, large: r.Large, check: r.Check}
}

// ReviseStore stores new versions of entries. Each method is one rule, as those of
// [Store].
type ReviseStore interface {
	// Revise stores the next version of each accession: with the group of the one
	// before, the terms as they are, and a ticket for each live pipeline version, all
	// or nothing (L1, L17). That the highest versions are released, and of the organism,
	// is tested again under their locks: a [*StateError] if they aren't. With a key it
	// does so as [UploadKeyStore] says. The answer is in the order of the entries.
	Revise(ctx context.Context, r Revision) ([]seqlease.SubmissionIDMapping, error)
}

// Revision is a checked upload of revisions, ready to be stored.
type Revision struct {
	Organism   seqlease.Organism
	Submitter  string
	Accessions []seqlease.Accession // of the entries, in their order; each once
	// Entries is that of [Upload]. There are as many as accessions.
	Entries iter.Seq2[PackedEntry, error]
	Key     *UploadKey // nil: none
}

// Revise checks an upload and stores new versions of its entries, all or nothing, and
// returns them in the order of the metadata file. The order of checks is the
// protocol's: organism ([seqlease.ErrUnknownOrganism]), key and files (both
// [*seqlease.InvalidError], or [seqlease.ErrTooLarge]), that the accessions exist
// ([*StateError]), permission for the group of each ([seqlease.ErrForbidden]), that
// their highest versions are released, and of the organism (both [*StateError]).
func (s *Submissions) Revise(ctx context.Context, p seqlease.Person, r ReviseRequest) ([]seqlease.SubmissionIDMapping, error) {
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	if made, stored, err := s.storedRevision(ctx, p, r); stored || err != nil {
		return made, err
	}
	checked, err := s.check(ctx, r.files())
	if err != nil {
		return nil, fmt.Errorf("revise entries of %s: %w", r.Organism, err)
	}
	accessions := checked.Accessions()
	if err := s.mayRevise(ctx, p, r.Organism, accessions); err != nil {
		_ = checked.Close() // it holds nothing that is still needed
		// What is in the way may be this very upload, sent twice and stored since.
		if made, stored, again := s.storedRevision(ctx, p, r); stored && again == nil {
			return made, nil
		}
		return nil, err
	}
	entries, err := s.pack(ctx, r.Organism, checked)
	if err != nil {
		return nil, fmt.Errorf("revise entries of %s: %w", r.Organism, err)
	}
	defer entries.close()
	made, err := s.store.Revise(ctx, Revision{
		Organism: r.Organism, Submitter: p.Name, Accessions: accessions, Entries: entries.all(), Key: r.Key,
	})
	if err != nil {
		return nil, fmt.Errorf("revise entries of %s: %w", r.Organism, err)
	}
	return made, nil
}

// storedRevision looks whether the upload is stored already, and whether the person may
// act for its groups still.
func (s *Submissions) storedRevision(ctx context.Context, p seqlease.Person, r ReviseRequest) (made []seqlease.SubmissionIDMapping, stored bool, err error) {
	made, stored, err = s.storedUpload(ctx, p, r.Key)
	if err != nil || !stored {
		return nil, false, err
	}
	if _, err := s.newest(ctx, p, r.Organism, accessionsOf(made)); err != nil {
		return nil, false, err
	}
	return made, true, nil
}

// mayRevise checks the accessions that an upload names.
func (s *Submissions) mayRevise(ctx context.Context, p seqlease.Person, o seqlease.Organism, accessions []seqlease.Accession) error {
	check, err := s.newest(ctx, p, o, accessions)
	if err != nil {
		return err
	}
	return check.Err()
}

// NewestAtOnce is how many accessions of a revision are looked up together.
const NewestAtOnce = 10_000

// newest looks at the highest versions of accessions. They must all exist, and the
// person must be a super user or in the group of each.
func (s *Submissions) newest(ctx context.Context, p seqlease.Person, o seqlease.Organism, accessions []seqlease.Accession) (*NewVersionCheck, error) {
	check := &NewVersionCheck{Organism: o}
	allowed, err := s.groupsToActFor(ctx, p)
	if err != nil {
		return nil, err
	}
	var foreign []int64
	var affected []seqlease.AccessionVersion
	for page := range slices.Chunk(accessions, NewestAtOnce) {
		found, err := s.store.NewestStandings(ctx, page)
		if err != nil {
			return nil, fmt.Errorf("highest versions: %w", err)
		}
		check.Add(page, found)
		for _, st := range found {
			if !allowed(st.GroupID) {
				foreign, affected = append(foreign, st.GroupID), append(affected, st.AccessionVersion)
			}
		}
	}
	if err := check.exists(); err != nil {
		return nil, err
	}
	if len(foreign) > 0 {
		return nil, notMember(p, without(foreign, nil), affected)
	}
	return check, nil
}

// groupsToActFor says for which groups the person may act.
func (s *Submissions) groupsToActFor(ctx context.Context, p seqlease.Person) (func(group int64) bool, error) {
	if p.Has(seqlease.SuperUser) {
		return func(int64) bool { return true }, nil
	}
	groups, err := s.store.GroupsOf(ctx, p.Name)
	if err != nil {
		return nil, fmt.Errorf("groups of %q: %w", p.Name, err)
	}
	own := make(map[int64]bool, len(groups))
	for _, g := range groups {
		own[g.GroupID] = true
	}
	return func(group int64) bool { return own[group] }, nil
}

func accessionsOf(made []seqlease.SubmissionIDMapping) []seqlease.Accession {
	list := make([]seqlease.Accession, len(made))
	for i, m := range made {
		list[i] = m.Accession
	}
	return list
}
