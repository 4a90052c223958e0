package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
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
// bytes, so that memory is bounded.
const (
	chunkEntries = 1000
	chunkBytes   = 8 << 20
)

// chunk is a part of an upload.
type chunk struct {
	submissionIDs []string
	dictionaries  []int64
	submitted     [][]byte
	bytes         int
}

// chunks cuts the entries of an upload. Each chunk is good until the next.
func chunks(entries iter.Seq2[submission.PackedEntry, error]) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		var c chunk
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			c.submissionIDs = append(c.submissionIDs, e.SubmissionID)
			c.dictionaries, c.submitted = append(c.dictionaries, e.Data.Dictionary), append(c.submitted, e.Data.Bytes)
			c.bytes += len(e.Data.Bytes)
			if len(c.submitted) == chunkEntries || c.bytes >= chunkBytes {
				if !yield(&c, nil) {
					return
				}
				c = chunk{}
			}
		}
		if len(c.submitted) > 0 {
			yield(&c, nil)
		}
	}
}

// Submit stores an upload with its terms and tickets (L1, L17), as
// [submission.Store] says. The transaction only reads what is packed already and
// inserts it. The entries are counted first, for their ranks.
func (s *Store) Submit(ctx context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	o, err := s.organism(ctx, u.Organism)
	if err != nil {
		return nil, err
	}
	if err := s.shares.uploads.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.shares.uploads.Release(1)
	count := 0
	for _, err := range u.Entries {
		if err != nil {
			return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
		}
		count++
	}
	ranks, err := s.reserveRanks(ctx, o.id, u.GroupID, count)
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
	}
	var made []seqlease.SubmissionIDMapping
	err = s.retry(ctx, func() (err error) {
		made, err = s.insertChunks(ctx, o, u, ranks)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
	}
	if len(made) > 0 {
		s.added(u.Organism, o.id, queue.LaneFresh, ranks)
	}
	return made, nil
}

// insertChunks stores the chunks in one transaction. The counters are bumped
// last: held through a long transaction they would make others wait.
func (s *Store) insertChunks(ctx context.Context, o knownOrganism, u submission.Upload, ranks map[seqlease.PipelineVersion]int64) ([]seqlease.SubmissionIDMapping, error) {
	var made []seqlease.SubmissionIDMapping
	err := s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, groupExistsSQL, pgx.StrictNamedArgs{"id": u.GroupID}).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return submission.UnknownGroup(u.GroupID)
		}
		for c, err := range chunks(u.Entries) {
			if err != nil {
				return err
			}
			part, err := insertChunk(ctx, tx, o, u, c, ranksAfter(ranks, len(made)))
			if err != nil {
				return err
			}
			made = append(made, part...)
		}
		if len(made) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
		return err
	})
	return made, err
}

// ranksAfter are the ranks that are left after the first used ones.
func ranksAfter(ranks map[seqlease.PipelineVersion]int64, used int) knownBounds {
	var b knownBounds
	for version, before := range ranks {
		b.versions, b.ranks = append(b.versions, int64(version)), append(b.ranks, before+int64(used))
	}
	return b
}

func insertChunk(ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c *chunk, ranks knownBounds) ([]seqlease.SubmissionIDMapping, error) {
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
		"organism": o.id, "group_id": u.GroupID, "submitter": u.Submitter, "dictionaries": c.dictionaries,
		"ids": ids, "accessions": accessions, "submission_ids": c.submissionIDs, "submitted": c.submitted,
		"restricted": restricted, "restricted_until": pgtype.Date{Time: u.Terms.RestrictedUntil, Valid: restricted},
		"rank_versions": ranks.versions, "ranks": ranks.ranks,
	})
	return made, err
}
