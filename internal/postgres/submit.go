package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/reserve_numbers.sql
var reserveNumbersSQL string

//go:embed sql/insert_entries.sql
var insertEntriesSQL string

//go:embed sql/group_exists.sql
var groupExistsSQL string

//go:embed sql/bump.sql
var bumpSQL string

// A chunk of an upload has at most this many entries and about this many
// compressed bytes, so that memory is bounded.
const (
	chunkEntries = 1000
	chunkBytes   = 8 << 20
)

// chunk is a part of an upload, compressed.
type chunk struct {
	submissionIDs []string
	submitted     [][]byte
	bytes         int
	last          bool // without it the upload isn't complete
}

// Submit stores an upload with its terms and tickets (L1), as [submission.Store]
// says. While one chunk is being inserted the next is read and compressed.
func (s *Store) Submit(ctx context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	o, err := s.organism(ctx, u.Organism)
	if err != nil {
		return nil, err
	}
	var made []seqlease.SubmissionIDMapping
	err = s.retry(ctx, func() error {
		made = nil
		chunks := make(chan chunk)
		group, ctx := errgroup.WithContext(ctx)
		var unread error
		group.Go(func() error {
			defer close(chunks)
			unread = s.readChunks(ctx, u, chunks)
			return unread
		})
		group.Go(func() (err error) {
			made, err = s.insertChunks(ctx, o, u, chunks)
			return err
		})
		err := group.Wait()
		if errors.Is(err, errIncomplete) {
			return unread // whichever of the two was noticed first
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
	}
	return made, nil
}

// readChunks compresses the entries and sends them on.
func (s *Store) readChunks(ctx context.Context, u submission.Upload, chunks chan<- chunk) error {
	send := func(c chunk) error {
		select {
		case chunks <- c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var next chunk
	for e, err := range u.Entries {
		if err != nil {
			return err
		}
		packed, err := s.Pack(u.Organism, e.Data)
		if err != nil {
			return fmt.Errorf("entry %q: %w", e.SubmissionID, err)
		}
		next.submissionIDs, next.submitted = append(next.submissionIDs, e.SubmissionID), append(next.submitted, packed.Bytes)
		next.bytes += len(packed.Bytes)
		if len(next.submitted) == chunkEntries || next.bytes >= chunkBytes {
			if err := send(next); err != nil {
				return err
			}
			next = chunk{}
		}
	}
	next.last = true
	return send(next)
}

// insertChunks stores the chunks in one transaction, which begins when the first
// one is there. The counters are bumped last: held through a long transaction
// they would make others wait.
func (s *Store) insertChunks(ctx context.Context, o knownOrganism, u submission.Upload, chunks <-chan chunk) ([]seqlease.SubmissionIDMapping, error) {
	next, complete := <-chunks
	if !complete {
		return nil, errIncomplete
	}
	var made []seqlease.SubmissionIDMapping
	err := s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, groupExistsSQL, pgx.StrictNamedArgs{"id": u.GroupID}).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return submission.UnknownGroup(u.GroupID)
		}
		for {
			part, err := insertChunk(ctx, tx, o, u, next)
			if err != nil {
				return err
			}
			made = append(made, part...)
			if next.last {
				break
			}
			if next, complete = <-chunks; !complete {
				return errIncomplete
			}
		}
		if len(made) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
		return err
	})
	return made, err
}

// errIncomplete rolls back an upload whose reading failed. It isn't reported, but
// why the reading failed.
var errIncomplete = errors.New("the upload ended early")

func insertChunk(ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c chunk) ([]seqlease.SubmissionIDMapping, error) {
	if len(c.submitted) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, reserveNumbersSQL, pgx.StrictNamedArgs{"count": len(c.submitted)})
	if err != nil {
		return nil, err
	}
	type numbers struct{ Accession, Entry int64 }
	reserved, err := pgx.CollectRows(rows, pgx.RowToStructByPos[numbers])
	if err != nil {
		return nil, err
	}
	made := make([]seqlease.SubmissionIDMapping, len(reserved))
	ids, accessions := make([]int64, len(reserved)), make([]string, len(reserved))
	for i, r := range reserved {
		accession := seqlease.NewAccession(u.AccessionPrefix, r.Accession)
		ids[i], accessions[i] = r.Entry, string(accession)
		made[i] = seqlease.SubmissionIDMapping{
			AccessionVersion: seqlease.AccessionVersion{Accession: accession, Version: 1}, SubmissionID: c.submissionIDs[i],
		}
	}
	restricted := u.Terms.Type == seqlease.TermsRestricted
	_, err = tx.Exec(ctx, insertEntriesSQL, pgx.StrictNamedArgs{
		"organism": o.id, "group_id": u.GroupID, "submitter": u.Submitter, "dictionary": o.dictionary.ID,
		"ids": ids, "accessions": accessions, "submission_ids": c.submissionIDs, "submitted": c.submitted,
		"restricted": restricted, "restricted_until": pgtype.Date{Time: u.Terms.RestrictedUntil, Valid: restricted},
	})
	return made, err
}
