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
// inserts it.
func (s *Store) Submit(ctx context.Context, u submission.Upload) ([]seqlease.SubmissionIDMapping, error) {
	o, err := s.organism(ctx, u.Organism)
	if err != nil {
		return nil, err
	}
	var made []seqlease.SubmissionIDMapping
	var first map[seqlease.PipelineVersion]int64
	err = s.retry(ctx, func() (err error) {
		made, first, err = s.insertChunks(ctx, o, u)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("submit to %s: %w", u.Organism, err)
	}
	s.added(u.Organism, o.id, queue.LaneFresh, first)
	return made, nil
}

// insertChunks stores the chunks in one transaction, and returns also the ranks
// before the first tickets. The counters are bumped last: held through a long
// transaction they would make others wait.
func (s *Store) insertChunks(ctx context.Context, o knownOrganism, u submission.Upload) (made []seqlease.SubmissionIDMapping, first map[seqlease.PipelineVersion]int64, err error) {
	err = s.longTransaction(ctx, s.shares.uploads, pgx.TxOptions{}, func(tx pgx.Tx) error {
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
			ranks, err := s.reserveRanks(ctx, tx, o.id, u.GroupID, len(c.submitted))
			if err != nil {
				return err
			}
			part, err := insertChunk(ctx, tx, o, u, c, ranks)
			if err != nil {
				return err
			}
			made = append(made, part...)
			if first == nil {
				first = ranks
			}
		}
		if len(made) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
		return err
	})
	return made, first, err
}

func insertChunk(ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c *chunk, ranks map[seqlease.PipelineVersion]int64) ([]seqlease.SubmissionIDMapping, error) {
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
	var rankVersions, rankList []int64
	for version, before := range ranks {
		rankVersions, rankList = append(rankVersions, int64(version)), append(rankList, before)
	}
	restricted := u.Terms.Type == seqlease.TermsRestricted
	_, err = tx.Exec(ctx, insertEntriesSQL, pgx.StrictNamedArgs{
		"organism": o.id, "group_id": u.GroupID, "submitter": u.Submitter, "dictionaries": c.dictionaries,
		"ids": ids, "accessions": accessions, "submission_ids": c.submissionIDs, "submitted": c.submitted,
		"restricted": restricted, "restricted_until": pgtype.Date{Time: u.Terms.RestrictedUntil, Valid: restricted},
		"rank_versions": rankVersions, "ranks": rankList,
	})
	return made, err
}
