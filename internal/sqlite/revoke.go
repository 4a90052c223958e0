package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// revocationBytes is about what a revocation takes beside its data.
const revocationBytes = 300

// errOvertaken says that what is left of an upload has the next version of an accession.
var errOvertaken = seqlease.Explain(seqlease.ErrBusy, "another version of an accession is being stored: send it again")

// Revoke adds revocations, as [submission.RevokeStore] says. It waits for revisions of
// the same accessions that are under way.
func (s *Store) Revoke(ctx context.Context, r submission.Revocation) ([]seqlease.SubmissionIDMapping, error) {
	packed, err := s.Pack(r.Organism, r.Data)
	if err != nil {
		return nil, err
	}
	release, err := s.growing.take(ctx, r.Accessions...)
	if err != nil {
		return nil, fmt.Errorf("revoke %d accessions of %s: %w", len(r.Accessions), r.Organism, err)
	}
	defer release()
	var made []seqlease.SubmissionIDMapping
	size := len(r.Accessions) * (revocationBytes + len(packed.Bytes))
	err = s.writeMuch(ctx, size, func(ctx context.Context, t *tx) (err error) {
		made, err = revoke(ctx, t, r, packed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("revoke %d accessions of %s: %w", len(r.Accessions), r.Organism, err)
	}
	slices.SortFunc(made, func(a, b seqlease.SubmissionIDMapping) int { return a.Compare(b.AccessionVersion) })
	return made, nil
}

func revoke(ctx context.Context, t *tx, r submission.Revocation, packed seqlease.Packed) ([]seqlease.SubmissionIDMapping, error) {
	o, err := organismState(ctx, t, r.Organism)
	if err != nil {
		return nil, err
	}
	newest, err := standings(ctx, t, jsonNewest(r.Accessions))
	if err != nil {
		return nil, err
	}
	if err := submission.RevokeFaults(r.Organism, r.Accessions, newest); err != nil {
		return nil, err
	}
	entries := make([]seqlease.AccessionVersion, len(newest))
	for i, st := range newest {
		entries[i] = st.AccessionVersion
	}
	var last int64
	if err := t.row(ctx, "revoke_count", named("entries", int64(len(entries))), &last); err != nil {
		return nil, err
	}
	run := named("first_entry_id", last-int64(len(entries))+1)
	made := make([]seqlease.SubmissionIDMapping, 0, len(entries))
	args := append(named("entries", jsonEntries(entries), "user", r.User, "now", o.now), run...)
	err = t.rows(ctx, "revoke", args, func(scan func(...any) error) error {
		var m seqlease.SubmissionIDMapping
		err := scan(&m.Accession, &m.Version, &m.SubmissionID)
		made = append(made, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(made) < len(entries) {
		return nil, errOvertaken
	}
	data := named("last_entry_id", last, "dictionary_id", packed.Dictionary, "body", packed.Bytes)
	if _, err := t.exec(ctx, "revoke_data", append(data, run...)...); err != nil {
		return nil, err
	}
	return made, noteAction(ctx, t, o.id, r.Note(made))
}
