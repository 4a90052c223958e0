package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/reserve_ids.sql
var reserveIDsSQL string

//go:embed sql/reserve_group_ranks.sql
var reserveGroupRanksSQL string

// Revise stores new versions of entries, as [submission.ReviseStore] says.
func (s *Store) Revise(ctx context.Context, r submission.Revision) ([]seqlease.SubmissionIDMapping, error) {
	o, err := s.organism(ctx, r.Organism)
	if err != nil {
		return nil, err
	}
	var made []seqlease.SubmissionIDMapping
	var first map[seqlease.PipelineVersion]int64
	err = s.retry(ctx, func() (err error) {
		made, first, err = s.insertRevisions(ctx, o, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("revise entries of %s: %w", r.Organism, err)
	}
	s.added(r.Organism, o.id, queue.LaneFresh, first)
	return made, nil
}

// insertRevisions stores the entries in one transaction, and returns also the ranks
// before the first tickets. The locks of the versions before are held all the time:
// only who would add another version, and be refused, waits for them.
func (s *Store) insertRevisions(ctx context.Context, o knownOrganism, r submission.Revision) (
	made []seqlease.SubmissionIDMapping, first map[seqlease.PipelineVersion]int64, err error,
) {
	err = s.longClosing(ctx, s.shares.uploads, byKey, func(tx pgx.Tx) (last *pgx.Batch, err error) {
		var stored bool
		if made, stored, err = takeKey(ctx, tx, r.Submitter, r.Key); stored || err != nil {
			return nil, err
		}
		before, err := lockNewest(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		var ids []int64
		if ids, made, err = copyRevisions(ctx, tx, o, r, before); err != nil || len(made) == 0 {
			return nil, err
		}
		if err := keepAnswer(ctx, tx, r.Submitter, r.Key, made); err != nil {
			return nil, err
		}
		var group int64
		if first, group, err = s.enqueueRevisions(ctx, tx, o.id, ids, before); err != nil {
			return nil, err
		}
		return noteAndBump(o.id, r.Note(made, group), true, false), nil
	})
	return made, first, err
}

// released is a version that is revised.
type released struct {
	version seqlease.Version
	groupID int64
}

// lockNewest locks the highest versions of the accessions, which must be released
// entries of the organism, and returns them in order.
func lockNewest(ctx context.Context, tx pgx.Tx, r submission.Revision) ([]released, error) {
	accessions := texts(r.Accessions)
	for range maxTries {
		rows, err := tx.Query(ctx, lockNewestSQL, pgx.StrictNamedArgs{"accessions": accessions})
		if err != nil {
			return nil, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, err
		}
		// The locks may have been waited for: these statements see what came meanwhile.
		list, locked, err := lookAtNewest(ctx, tx, r, ids)
		if err != nil || locked {
			return list, err
		}
	}
	return nil, fmt.Errorf("%w: others keep adding versions of the same entries", seqlease.ErrBusy)
}

// lookAtNewest returns the highest versions in order, if they may be revised, and
// whether they are among those that are locked.
func lookAtNewest(ctx context.Context, tx pgx.Tx, r submission.Revision, ids []int64) (list []released, locked bool, err error) {
	check := submission.NewVersionCheck{Organism: r.Organism}
	list, locked = make([]released, 0, len(r.Accessions)), true
	for page := range slices.Chunk(r.Accessions, submission.NewestAtOnce) {
		found, pageLocked, err := newestLocked(ctx, tx, page, ids)
		if err != nil {
			return nil, false, err
		}
		check.Add(page, found)
		locked = locked && pageLocked
		for _, st := range submission.InOrderOf(page, found) {
			list = append(list, released{st.Version, st.GroupID})
		}
	}
	return list, locked, check.Err()
}

// errRevisions says that a revision doesn't have an accession for each entry.
var errRevisions = errors.New("there are not as many accessions as entries")

// copyRevisions stores the entries and returns their ids and what they are called.
func copyRevisions(ctx context.Context, tx pgx.Tx, o knownOrganism, r submission.Revision, before []released) (
	ids []int64, made []seqlease.SubmissionIDMapping, err error,
) {
	err = storeChunks(r.Entries, func(c []submission.PackedEntry) error {
		start := len(made)
		if start+len(c) > len(before) {
			return errRevisions
		}
		var fresh []int64
		if err := tx.QueryRow(ctx, reserveIDsSQL, pgx.StrictNamedArgs{"count": len(c)}).Scan(&fresh); err != nil {
			return err
		}
		for i, e := range c {
			made = append(made, seqlease.SubmissionIDMapping{
				AccessionVersion: seqlease.AccessionVersion{Accession: r.Accessions[start+i], Version: before[start+i].version + 1},
				SubmissionID:     e.SubmissionID,
			})
		}
		ids = append(ids, fresh...)
		return copyEntries(ctx, tx, o, r.Submitter, fresh, made[start:], c, func(i int) int64 { return before[start+i].groupID })
	})
	if err == nil && len(made) < len(before) {
		err = errRevisions
	}
	return ids, made, err
}

// enqueueRevisions is enqueue for entries of several groups. It returns also their
// group, if it is one.
func (s *Store) enqueueRevisions(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64, before []released) (
	first map[seqlease.PipelineVersion]int64, group int64, err error,
) {
	entries := map[int64]int64{}
	for _, b := range before {
		entries[b.groupID]++
	}
	groups := slices.Sorted(maps.Keys(entries))
	counts := make([]int64, len(groups))
	for i, id := range groups {
		counts[i] = entries[id]
	}
	if len(groups) == 1 {
		group = groups[0]
	}
	b := s.knownBounds(organismID)
	rows, err := tx.Query(ctx, reserveGroupRanksSQL, pgx.StrictNamedArgs{
		"organism": organismID, "group_ids": groups, "counts": counts,
		"bound_versions": b.versions, "bound_ranks": b.ranks, "bound_ids": b.ids,
	})
	if err != nil {
		return nil, 0, err
	}
	last := map[seqlease.PipelineVersion]map[int64]int64{} // rank given, by group
	first = map[seqlease.PipelineVersion]int64{}
	var version seqlease.PipelineVersion
	var of, rank int64
	_, err = pgx.ForEachRow(rows, []any{&version, &of, &rank}, func() error {
		if last[version] == nil {
			last[version], first[version] = map[int64]int64{}, rank
		}
		last[version][of], first[version] = rank, min(first[version], rank)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return first, group, copyTickets(ctx, tx, organismID, slices.Sorted(maps.Keys(last)), ids, func(version seqlease.PipelineVersion, i int) int64 {
		given := last[version]
		given[before[i].groupID]++
		return given[before[i].groupID]
	})
}
