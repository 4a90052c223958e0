package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/reserve_numbers.sql
var reserveNumbersSQL string

//go:embed sql/copy_entries.sql
var copyEntriesSQL string

//go:embed sql/copy_terms.sql
var copyTermsSQL string

//go:embed sql/copy_tickets.sql
var copyTicketsSQL string

//go:embed sql/group_exists.sql
var groupExistsSQL string

//go:embed sql/bump.sql
var bumpSQL string

// A chunk of an upload has at most this many entries and about this many
// bytes, so that memory is bounded.
const (
	chunkEntries = 10_000
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
		var rows copyRows
		for c, err := range chunks(u.Entries) {
			if err != nil {
				return err
			}
			partIDs, part, err := insertChunk(ctx, tx, o, u, c, &rows)
			if err != nil {
				return err
			}
			ids, made = append(ids, partIDs...), append(made, part...)
		}
		if len(made) == 0 {
			return nil
		}
		if first, err = s.enqueue(ctx, tx, o.id, u.GroupID, ids, &rows); err != nil {
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
func (s *Store) enqueue(ctx context.Context, tx pgx.Tx, organismID int32, group int64, ids []int64, tickets *copyRows) (map[seqlease.PipelineVersion]int64, error) {
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
	for _, version := range slices.Sorted(maps.Keys(first)) {
		rank := first[version]
		for part := range slices.Chunk(ids, ticketChunk) {
			tickets.reset()
			for _, id := range part {
				rank++
				tickets.row(5)
				tickets.bigint(int64(version))
				tickets.bigint(rank)
				tickets.bigint(id)
				tickets.int(organismID)
				tickets.smallint(int16(queue.LaneFresh))
			}
			if err := tickets.send(ctx, tx, copyTicketsSQL); err != nil {
				return nil, err
			}
		}
	}
	return first, nil
}

// insertChunk stores a chunk with its terms, and returns the ids of the entries and
// what they are called. The rows are for use.
func insertChunk(
	ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c *chunk, rows *copyRows,
) ([]int64, []seqlease.SubmissionIDMapping, error) {
	ids, made, err := reserveNumbers(ctx, tx, u.AccessionPrefix, c.submissionIDs)
	if err != nil {
		return nil, nil, err
	}
	rows.reset()
	for i, m := range made {
		rows.row(9)
		rows.bigint(ids[i])
		rows.bigint(int64(m.Version))
		rows.bigint(u.GroupID)
		rows.bigint(c.dictionaries[i])
		rows.int(o.id)
		rows.text(string(m.Accession))
		rows.text(m.SubmissionID)
		rows.text(u.Submitter)
		rows.bytea(c.submitted[i])
	}
	if err := rows.send(ctx, tx, copyEntriesSQL); err != nil {
		return nil, nil, err
	}
	rows.reset()
	restricted := u.Terms.Type == seqlease.TermsRestricted
	for _, m := range made {
		rows.row(4)
		rows.text(string(m.Accession))
		rows.boolean(restricted)
		if restricted {
			rows.date(u.Terms.RestrictedUntil)
		} else {
			rows.null()
		}
		rows.text(u.Submitter)
	}
	return ids, made, rows.send(ctx, tx, copyTermsSQL)
}

// reserveNumbers returns ids of new entries and what these are called.
func reserveNumbers(ctx context.Context, tx pgx.Tx, prefix string, submissionIDs []string) ([]int64, []seqlease.SubmissionIDMapping, error) {
	rows, err := tx.Query(ctx, reserveNumbersSQL, pgx.StrictNamedArgs{"count": len(submissionIDs)})
	if err != nil {
		return nil, nil, err
	}
	ids, made := make([]int64, 0, len(submissionIDs)), make([]seqlease.SubmissionIDMapping, 0, len(submissionIDs))
	var number, id int64
	_, err = pgx.ForEachRow(rows, []any{&number, &id}, func() error {
		ids, made = append(ids, id), append(made, seqlease.SubmissionIDMapping{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, number), Version: 1},
			SubmissionID:     submissionIDs[len(made)],
		})
		return nil
	})
	return ids, made, err
}
