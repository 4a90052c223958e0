package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// errOvertaken says that what is left of an upload has the next version of an accession.
var errOvertaken = seqlease.Explain(seqlease.ErrBusy, "another version of an accession is being stored: send it again")

// Revoke adds revocations, as [submission.RevokeStore] says: part by part, as
// [Store.Revise] does. It waits for revisions of the same accessions that are under way.
func (s *Store) Revoke(ctx context.Context, r submission.Revocation) ([]seqlease.SubmissionIDMapping, error) {
	made, err := s.revoke(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("revoke %d accessions of %s: %w", len(r.Accessions), r.Organism, err)
	}
	slices.SortFunc(made, func(a, b seqlease.SubmissionIDMapping) int { return a.Compare(b.AccessionVersion) })
	return made, nil
}

func (s *Store) revoke(ctx context.Context, r submission.Revocation) ([]seqlease.SubmissionIDMapping, error) {
	packed, err := s.Pack(r.Organism, r.Data)
	if err != nil {
		return nil, err
	}
	release, err := s.growing.take(ctx, r.Accessions...)
	if err != nil {
		return nil, err
	}
	defer release()
	rev := &revocation{Revocation: r, packed: packed}
	if err := rev.look(ctx, s.readOnce()); err != nil {
		return nil, storeError(err)
	}
	return s.storeUpload(ctx, rev, keptKey{})
}

// revocation is an upload of revocations under way.
type revocation struct {
	submission.Revocation
	underWay
	packed  seqlease.Packed             // of each of them
	revoked []seqlease.AccessionVersion // what they follow
	first   int64                       // entry id
}

// look reads what is revoked. It stays as it is: who adds a version waits for us, and
// what is released is never changed or deleted.
func (rev *revocation) look(ctx context.Context, t *tx) error {
	if _, err := organismState(ctx, t, rev.Organism); err != nil {
		return err
	}
	newest, err := standings(ctx, t, jsonNewest(rev.Accessions))
	if err != nil {
		return err
	}
	for _, st := range newest {
		rev.revoked = append(rev.revoked, st.AccessionVersion)
	}
	return submission.RevokeFaults(rev.Organism, rev.Accessions, newest)
}

// begin gives the revocations their ids, and hides them before they are there.
func (rev *revocation) begin(ctx context.Context, t *tx) error {
	o, err := organismState(ctx, t, rev.Organism)
	if err != nil {
		return err
	}
	rev.organismID = o.id
	if err := t.row(ctx, "submit_begin", named("organism_id", o.id), &rev.id, &rev.startedAt); err != nil {
		return err
	}
	n := int64(len(rev.revoked))
	if n == 0 {
		return nil
	}
	var last int64
	if err := t.row(ctx, "revise_count", named("entries", n), &last); err != nil {
		return err
	}
	rev.first = last - n + 1
	_, err = t.exec(ctx, "submit_insert_run", named("upload_id", rev.id, "first_entry_id", rev.first, "last_entry_id", last)...)
	return err
}

func (rev *revocation) entries() iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for range rev.revoked {
			if !yield(submission.PackedEntry{Data: rev.packed}, nil) {
				return
			}
		}
	}
}

// store writes a part, which nobody sees yet. Revocations have the submission ids of
// what they follow, which it sets.
func (rev *revocation) store(ctx context.Context, t *tx, p part) ([]seqlease.AccessionVersion, error) {
	start, n := len(rev.mapping), len(p.data)
	revoked, first := rev.revoked[start:start+n], rev.first+int64(start)
	ids := make(map[seqlease.Accession]string, n)
	args := named("entries", jsonEntries(revoked), "user", rev.User, "now", rev.startedAt, "organism_id", rev.organismID, "first_entry_id", first)
	err := t.rows(ctx, "revoke", args, func(scan func(...any) error) error {
		var accession seqlease.Accession
		var id string
		err := scan(&accession, &id)
		ids[accession] = id
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(ids) < n {
		return nil, rev.fault(ctx, t, revoked)
	}
	made := make([]seqlease.AccessionVersion, n)
	for i, av := range revoked {
		made[i] = seqlease.AccessionVersion{Accession: av.Accession, Version: av.Version + 1}
		p.submissionIDs[i] = ids[av.Accession]
	}
	data := named("first_entry_id", first, "last_entry_id", first+int64(n)-1, "dictionary_id", rev.packed.Dictionary, "body", rev.packed.Bytes)
	_, err = t.exec(ctx, "revoke_data", data...)
	return made, err
}

// fault says why not all of a part could be revoked.
func (rev *revocation) fault(ctx context.Context, t *tx, revoked []seqlease.AccessionVersion) error {
	accessions := make([]seqlease.Accession, len(revoked))
	for i, av := range revoked {
		accessions[i] = av.Accession
	}
	newest, err := standings(ctx, t, jsonNewest(accessions))
	if err != nil {
		return err
	}
	if err := submission.RevokeFaults(rev.Organism, accessions, newest); err != nil {
		return err
	}
	return errOvertaken
}

// publish makes all revocations visible at once. They wait for nothing.
func (rev *revocation) publish(ctx context.Context, t *tx, _ *added) error {
	return rev.show(ctx, t, rev.Note(rev.mapping))
}
