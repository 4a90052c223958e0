package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"slices"

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

//go:embed sql/insert_tickets.sql
var insertTicketsSQL string

//go:embed sql/group_exists.sql
var groupExistsSQL string

//go:embed sql/bump.sql
var bumpSQL string

// A chunk of an upload has at most this many entries and about this many
// bytes, so that memory is bounded.
const (
	chunkEntries = 1000
	chunkBytes   = 8 << 20
	// ticketChunk is how many tickets a statement stores at most.
	ticketChunk = 10_000
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
// before the first tickets. Turns and tickets come once all entries are there, and
// the counters are bumped last: whatever others wait for isn't held while entries
// arrive.
func (s *Store) insertChunks(ctx context.Context, o knownOrganism, u submission.Upload) (made []seqlease.SubmissionIDMapping, first map[seqlease.PipelineVersion]int64, err error) {
	err = s.longTransaction(ctx, s.shares.uploads, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, groupExistsSQL, pgx.StrictNamedArgs{"id": u.GroupID}).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return submission.UnknownGroup(u.GroupID)
		}
		var ids []int64
		for c, err := range chunks(u.Entries) {
			if err != nil {
				return err
			}
			partIDs, part, err := insertChunk(ctx, tx, o, u, c)
			if err != nil {
				return err
			}
			ids, made = append(ids, partIDs...), append(made, part...)
		}
		if len(made) == 0 {
			return nil
		}
		if first, err = s.enqueue(ctx, tx, o.id, u.GroupID, ids); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
		return err
	})
	return made, first, err
}

// enqueue gives the upload its ranks (L17) and its tickets, and returns the rank
// before the first, by version. Until the commit nobody else sees the ranks as
// given, so that those of an upload that is late or comes to nothing count for
// nobody; only other uploads of the group wait, for as long as tickets are written.
func (s *Store) enqueue(ctx context.Context, tx pgx.Tx, organismID int32, group int64, ids []int64) (map[seqlease.PipelineVersion]int64, error) {
	if _, err := tx.Exec(ctx, planSettingsSQL); err != nil {
		return nil, err
	}
	b := s.knownBounds(organismID, queue.LaneFresh)
	rows, err := tx.Query(ctx, reserveRanksSQL, pgx.StrictNamedArgs{
		"organism": organismID, "group_id": group, "count": len(ids),
		"bound_versions": b.versions, "bound_ranks": b.ranks, "bound_ids": b.ids,
	})
	if err != nil {
		return nil, err
	}
	_, first, err := ranksOf(rows)
	if err != nil {
		return nil, err
	}
	done := int64(0)
	for part := range slices.Chunk(ids, ticketChunk) {
		var versions, ranks []int64
		for version, before := range first {
			versions, ranks = append(versions, int64(version)), append(ranks, before+done)
		}
		_, err := tx.Exec(ctx, insertTicketsSQL, pgx.StrictNamedArgs{"organism": organismID, "versions": versions, "ranks": ranks, "ids": part})
		if err != nil {
			return nil, err
		}
		done += int64(len(part))
	}
	return first, nil
}

func insertChunk(ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c *chunk) ([]int64, []seqlease.SubmissionIDMapping, error) {
	rows, err := tx.Query(ctx, reserveNumbersSQL, pgx.StrictNamedArgs{"count": len(c.submitted)})
	if err != nil {
		return nil, nil, err
	}
	type numbers struct{ Accession, Entry int64 }
	reserved, err := pgx.CollectRows(rows, pgx.RowToStructByPos[numbers])
	if err != nil {
		return nil, nil, err
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
	})
	return ids, made, err
}
