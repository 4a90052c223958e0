package postgres

import (
	"context"
	_ "embed"
	"errors"
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

// A chunk of an upload has at most this many entries and about this many bytes, so
// that memory is bounded: two of them are there at once. The first is smaller, as
// nothing is stored until it is there.
const (
	chunkEntries = 10_000
	firstChunk   = 1_000
	chunkBytes   = 4 << 20
)

// chunks cuts the entries of an upload.
func chunks(entries iter.Seq2[submission.PackedEntry, error]) iter.Seq2[[]submission.PackedEntry, error] {
	return func(yield func([]submission.PackedEntry, error) bool) {
		var c []submission.PackedEntry
		bytes, limit := 0, firstChunk
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			c = append(c, e)
			bytes += len(e.Data.Bytes)
			if len(c) == limit || bytes >= chunkBytes {
				if !yield(c, nil) {
					return
				}
				limit = min(2*limit, chunkEntries)
				c, bytes = make([]submission.PackedEntry, 0, len(c)), 0
			}
		}
		if len(c) > 0 {
			yield(c, nil)
		}
	}
}

// Submit stores an upload with its terms and tickets (L1, L17), as
// [submission.Store] says.
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
	err = s.longClosing(ctx, s.shares.uploads, byKey, func(tx pgx.Tx) (last *pgx.Batch, err error) {
		var stored bool
		if made, stored, err = takeKey(ctx, tx, u.Submitter, u.Key); stored || err != nil {
			return nil, err
		}
		var exists bool
		if err := tx.QueryRow(ctx, groupExistsSQL, pgx.StrictNamedArgs{"id": u.GroupID}).Scan(&exists); err != nil {
			return nil, err
		}
		if !exists {
			return nil, submission.UnknownGroup(u.GroupID)
		}
		ids, err := insertEntries(ctx, tx, o, u, &made)
		if err != nil || len(made) == 0 {
			return nil, err
		}
		if err := keepAnswer(ctx, tx, u.Submitter, u.Key, made); err != nil {
			return nil, err
		}
		if first, err = s.enqueue(ctx, tx, o.id, u.GroupID, ids); err != nil {
			return nil, err
		}
		return noteAndBump(o.id, u.Note(made), true, false), nil
	})
	return made, first, err
}

// enqueue gives the upload its ranks (L17) and its tickets, and returns the rank
// before the first, by version. Until the commit nobody else sees the ranks as
// given, so that those of an upload that is late or comes to nothing count for
// nobody; only other uploads of the group wait, for as long as tickets are written.
func (s *Store) enqueue(ctx context.Context, tx pgx.Tx, organismID int32, group int64, ids []int64) (map[seqlease.PipelineVersion]int64, error) {
	b := s.knownBounds(organismID)
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
	return first, copyTickets(ctx, tx, organismID, slices.Sorted(maps.Keys(first)), ids, func(version seqlease.PipelineVersion, i int) int64 {
		return first[version] + 1 + int64(i)
	})
}

// copyTickets writes tickets of the entries for each version in turn; rank is called
// once for each, in order.
func copyTickets(ctx context.Context, tx pgx.Tx, organismID int32, versions []seqlease.PipelineVersion, ids []int64,
	rank func(version seqlease.PipelineVersion, i int) int64,
) error {
	return copyInto(ctx, tx, copyTicketsSQL, len(versions)*len(ids), func(rows *copyRows, n int) {
		version, i := versions[n/len(ids)], n%len(ids)
		rows.row(5)
		rows.bigint(int64(version))
		rows.bigint(rank(version, i))
		rows.bigint(ids[i])
		rows.int(organismID)
		rows.smallint(int16(queue.LaneFresh))
	})
}

// insertEntries stores the entries with their terms, and returns their ids and, in
// made, what they are called.
func insertEntries(ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, made *[]seqlease.SubmissionIDMapping) ([]int64, error) {
	*made = nil
	var ids []int64
	err := storeChunks(u.Entries, func(c []submission.PackedEntry) error {
		partIDs, part, err := insertChunk(ctx, tx, o, u, c)
		ids, *made = append(ids, partIDs...), append(*made, part...)
		return err
	})
	return ids, err
}

// storeChunks cuts the entries into chunks and has each stored while the next one is
// put together.
func storeChunks(entries iter.Seq2[submission.PackedEntry, error], store func(c []submission.PackedEntry) error) error {
	stored := make(chan error, 1) // how the chunk before went
	stored <- nil
	for c, failed := range chunks(entries) {
		if err := errors.Join(<-stored, failed); err != nil {
			return err
		}
		go func() { stored <- submission.Caught(func() error { return store(c) }) }()
	}
	return <-stored
}

// insertChunk stores a chunk with its terms, and returns the ids of the entries and
// what they are called.
func insertChunk(
	ctx context.Context, tx pgx.Tx, o knownOrganism, u submission.Upload, c []submission.PackedEntry,
) ([]int64, []seqlease.SubmissionIDMapping, error) {
	ids, made, err := reserveNumbers(ctx, tx, u.AccessionPrefix, c)
	if err != nil {
		return nil, nil, err
	}
	err = copyEntries(ctx, tx, o, u.Submitter, ids, made, c, func(int) int64 { return u.GroupID })
	if err != nil || u.Terms.Type != seqlease.TermsRestricted {
		return ids, made, err
	}
	return ids, made, copyInto(ctx, tx, copyTermsSQL, len(made), func(rows *copyRows, i int) {
		rows.row(4)
		rows.text(string(made[i].Accession))
		rows.boolean(true)
		rows.date(u.Terms.RestrictedUntil)
		rows.text(u.Submitter)
	})
}

// copyEntries writes entries with their ids, what they are called, and their groups.
func copyEntries(ctx context.Context, tx pgx.Tx, o knownOrganism, submitter string, ids []int64, made []seqlease.SubmissionIDMapping,
	c []submission.PackedEntry, group func(i int) int64,
) error {
	return copyInto(ctx, tx, copyEntriesSQL, len(c), func(rows *copyRows, i int) {
		rows.row(9)
		rows.bigint(ids[i])
		rows.bigint(int64(made[i].Version))
		rows.bigint(group(i))
		rows.bigint(c[i].Data.Dictionary)
		rows.int(o.id)
		rows.text(string(made[i].Accession))
		rows.text(c[i].SubmissionID)
		rows.text(submitter)
		rows.bytea(c[i].Data.Bytes)
	})
}

// reserveNumbers returns ids of new entries and what these are called.
func reserveNumbers(ctx context.Context, tx pgx.Tx, prefix string, c []submission.PackedEntry) (ids []int64, made []seqlease.SubmissionIDMapping, err error) {
	var numbers []int64
	if err := tx.QueryRow(ctx, reserveNumbersSQL, pgx.StrictNamedArgs{"count": len(c)}).Scan(&numbers, &ids); err != nil {
		return nil, nil, err
	}
	made = make([]seqlease.SubmissionIDMapping, len(c))
	for i, number := range numbers {
		made[i] = seqlease.SubmissionIDMapping{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession(prefix, number), Version: 1},
			SubmissionID:     c[i].SubmissionID,
		}
	}
	return ids, made, nil
}
