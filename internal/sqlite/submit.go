package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// An upload is stored in parts, so that claims never wait for long: a part has
// at most this many entries and about this many bytes.
const (
	partEntries = 500
	partBytes   = 4 << 20
)

// leftoverTime bounds the removal of an upload that came to nothing. What it
// doesn't reach is removed when the store is opened next.
const leftoverTime = time.Minute

// Submit stores the entries of an upload, all or nothing (L1): part by part, as
// entries which nobody sees, and then one short transaction publishes them
// together with their tickets. Errors: [seqlease.ErrUnknownOrganism],
// [seqlease.ErrNotFound] for the group.
func (s *Store) Submit(ctx context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	mapping, err := s.keyed(ctx, u.Submitter, u.Key, func() ([]seqlease.SubmissionIDMapping, error) {
		return s.storeUpload(ctx, &upload{Upload: u}, keptKey{user: u.Submitter, key: u.Key})
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
	}
	return mapping, nil
}

// partial is what is stored part by part.
type partial interface {
	// begin makes the row of the upload.
	begin(ctx context.Context, t *tx) error
	// entries are those to store.
	entries() iter.Seq2[submission.PackedEntry, error]
	// store writes a part, which nobody sees yet, and returns what its entries are called.
	store(ctx context.Context, t *tx, p part) ([]seqlease.AccessionVersion, error)
	// publish makes all entries visible and claimable at once.
	publish(ctx context.Context, t *tx, a *added) error
	state() *underWay
}

// underWay is how far a [partial] has come.
type underWay struct {
	id         int64
	organismID int64
	startedAt  int64
	mapping    []seqlease.SubmissionIDMapping
	kept       keptKey
}

func (u *underWay) state() *underWay { return u }

// storeUpload stores all of it, or nothing.
func (s *Store) storeUpload(ctx context.Context, up partial, key keptKey) ([]seqlease.SubmissionIDMapping, error) {
	state := up.state()
	// What comes before the publication needn't be durable by itself: the log brings
	// it to the disk with the publication, or both are lost.
	if err := s.writeLosing(ctx, up.begin); err != nil {
		return nil, err
	}
	err := s.storeParts(ctx, up)
	if err == nil {
		state.kept, err = key.with(state.mapping)
	}
	if err == nil {
		err = s.writeAndRing(ctx, up.publish)
	}
	if err == nil {
		return state.mapping, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftoverTime)
	defer cancel()
	return nil, errors.Join(err, s.removeUpload(ctx, state.id))
}

// upload is a submission under way.
type upload struct {
	submission.Upload
	underWay
}

func (up *upload) entries() iter.Seq2[submission.PackedEntry, error] { return up.Entries }

func (up *upload) begin(ctx context.Context, t *tx) error {
	o, err := organismState(ctx, t, up.Organism)
	if err != nil {
		return err
	}
	up.organismID = o.id
	if _, err := groupByID(ctx, t, up.GroupID); err != nil {
		return err
	}
	return t.row(ctx, "submit_begin", named("organism_id", o.id), &up.id, &up.startedAt)
}

// part is a run of entries of an upload.
type part struct {
	submissionIDs []string
	data          []seqlease.Packed
	size          int // bytes of data
}

// storeParts reads the entries outside of any transaction and stores them part by part.
func (s *Store) storeParts(ctx context.Context, up partial) error {
	var p part
	for e, err := range up.entries() {
		if err != nil {
			return err
		}
		if len(p.data) == partEntries || len(p.data) > 0 && p.size+len(e.Data.Bytes) > partBytes {
			if err := s.storePart(ctx, up, p); err != nil {
				return err
			}
			p = part{}
		}
		p.submissionIDs = append(p.submissionIDs, e.SubmissionID)
		p.data = append(p.data, e.Data)
		p.size += len(e.Data.Bytes)
	}
	if len(p.data) == 0 {
		return nil
	}
	return s.storePart(ctx, up, p)
}

func (s *Store) storePart(ctx context.Context, up partial, p part) error {
	var made []seqlease.AccessionVersion
	err := s.send(ctx, &write{losing: true, large: p.size > muchToWrite, fn: func(ctx context.Context, t *tx) (err error) {
		made, err = up.store(ctx, t, p)
		return err
	}})
	if err != nil {
		return err
	}
	state := up.state()
	for i, av := range made {
		state.mapping = append(state.mapping, seqlease.SubmissionIDMapping{AccessionVersion: av, SubmissionID: p.submissionIDs[i]})
	}
	return nil
}

// store writes a part and returns the accessions of its entries.
func (up *upload) store(ctx context.Context, t *tx, p part) ([]seqlease.AccessionVersion, error) {
	n := int64(len(p.submissionIDs))
	last := map[string]int64{}
	err := t.rows(ctx, "submit_count", named("entries", n), func(scan func(...any) error) error {
		var name string
		var id int64
		err := scan(&name, &id)
		last[name] = id
		return err
	})
	if err != nil {
		return nil, err
	}
	first := last["entry"] - n + 1
	made := make([]seqlease.AccessionVersion, n)
	for i := range made {
		made[i] = seqlease.AccessionVersion{Accession: seqlease.NewAccession(up.AccessionPrefix, last["accession"]-n+1+int64(i)), Version: 1}
	}
	run := named("first_entry_id", first, "last_entry_id", last["entry"])
	if err := up.hide(ctx, t, run); err != nil {
		return nil, err
	}
	_, err = t.execRows(ctx, "submit_entries", len(made), func(values []any, i int) []any {
		return append(values, first+int64(i), string(made[i].Accession), p.submissionIDs[i])
	}, named("organism_id", up.organismID, "group_id", up.GroupID, "submitter", up.Submitter, "started_at", up.startedAt)...)
	if err != nil {
		return nil, err
	}
	_, err = t.execRows(ctx, "submit_data", len(p.data), func(values []any, i int) []any {
		return append(values, first+int64(i), p.data[i].Dictionary, p.data[i].Bytes)
	})
	if err != nil {
		return nil, err
	}
	terms := named("terms", string(up.Terms.Type), "restricted_until", day(up.Terms))
	_, err = t.exec(ctx, "submit_terms", append(terms, run...)...)
	return made, err
}

// hide keeps the run of entry ids from everybody until the upload is published.
func (up *upload) hide(ctx context.Context, t *tx, run []any) error {
	args := append(named("upload_id", up.id), run...)
	extended, err := t.exec(ctx, "submit_extend_run", args...)
	if err != nil || extended > 0 {
		return err
	}
	_, err = t.exec(ctx, "submit_insert_run", args...)
	return err
}

// publish makes all entries of the upload visible and claimable at once.
func (up *upload) publish(ctx context.Context, t *tx, a *added) error {
	if err := up.enqueue(ctx, t, a); err != nil {
		return err
	}
	return up.show(ctx, t, up.Note(up.mapping))
}

// show ends the upload: its entries are seen, and its key and the note are kept.
func (u *underWay) show(ctx context.Context, t *tx, note seqlease.AuditNote) error {
	args := named("upload_id", u.id)
	for _, statement := range []string{"submit_publish", "submit_end"} {
		if _, err := t.exec(ctx, statement, args...); err != nil {
			return err
		}
	}
	if len(u.mapping) == 0 {
		return nil
	}
	if err := u.kept.keep(ctx, t); err != nil {
		return err
	}
	return noteAction(ctx, t, u.organismID, note)
}

// enqueue gives the upload its ranks (L17) and its tickets: as many of them as a
// part has at most are written out here, those of a larger upload when claims
// come to them (see ticket_run in the schema).
func (up *upload) enqueue(ctx context.Context, t *tx, a *added) error {
	if len(up.mapping) == 0 {
		return nil
	}
	turn := named("group_id", up.GroupID, "entries", int64(len(up.mapping)), "organism_id", up.organismID)
	if _, err := t.exec(ctx, "submit_turns", turn...); err != nil {
		return err
	}
	tickets := "submit_tickets"
	if len(up.mapping) > partEntries {
		tickets = "submit_ticket_runs"
	}
	if _, err := t.exec(ctx, tickets, append(turn, named("upload_id", up.id)...)...); err != nil {
		return err
	}
	return a.toLive(ctx, t, up.organismID, up.Organism)
}

// day is how the end of a restriction is stored; NULL if there is none.
func day(terms seqlease.DataUseTerms) any {
	if terms.Type != seqlease.TermsRestricted {
		return nil
	}
	return terms.RestrictedUntil.Format(time.DateOnly)
}

// termsOf reads what [day] stored.
func termsOf(kind seqlease.TermsType, until string) (seqlease.DataUseTerms, error) {
	terms := seqlease.DataUseTerms{Type: kind}
	if until == "" {
		return terms, nil
	}
	var err error
	terms.RestrictedUntil, err = time.ParseInLocation(time.DateOnly, until, time.UTC)
	return terms, err
}
