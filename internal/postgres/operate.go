package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/current_version.sql
var currentVersionSQL string

//go:embed sql/page_entries.sql
var pageEntriesSQL string

//go:embed sql/page_quarantine.sql
var pageQuarantineSQL string

//go:embed sql/quarantined_places.sql
var quarantinedPlacesSQL string

//go:embed sql/requeue.sql
var requeueSQL string

//go:embed sql/released_among.sql
var releasedAmongSQL string

//go:embed sql/reprocess.sql
var reprocessSQL string

// onPage locks the entries of a page that the selection means and has act decide on
// them, all in one transaction; act returns how many it changed, which it has noted
// in the call's row of the audit log.
func (s *Store) onPage(
	ctx context.Context, statement string, arguments pgx.StrictNamedArgs, limit int, call *operatorCall, act func(tx pgx.Tx, ids []int64) (int, error),
) (n int, last int64, err error) {
	err = s.retry(ctx, func() error {
		n, last = 0, 0
		call.begin()
		return s.change(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, statement, arguments)
			if err != nil {
				return err
			}
			page, looked, err := readCandidates(rows)
			if err != nil {
				return err
			}
			if looked == limit {
				last = page.last
			}
			ids, err := page.lock(ctx, tx)
			if err != nil || len(ids) == 0 {
				return err
			}
			n, err = act(tx, ids)
			return err
		})
	})
	if err == nil {
		call.committed()
	}
	return n, last, err
}

// pageArguments are those of the statements that look at a page.
func pageArguments(organismID int32, sel queue.Selection, after int64, limit int) pgx.StrictNamedArgs {
	accessions, versions := columns(sel.Entries)
	return pgx.StrictNamedArgs{
		"organism": organismID, "version": int64(sel.PipelineVersion), "any": sel.Entries == nil, "accessions": accessions, "versions": versions,
		"worker_id": sel.WorkerID, "submitted_from": orNull(sel.SubmittedFrom), "submitted_to": orNull(sel.SubmittedTo), "after": after, "limit": limit,
	}
}

func orNull(t time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()} }

// PutInQuarantine quarantines entries that wait or are in processing (L16), as
// [queue.OperatorStore] says.
func (s *Store) PutInQuarantine(ctx context.Context, sel queue.Selection, v queue.OperatorVerdict, after int64, limit int) (int, int64, error) {
	o, err := s.organism(ctx, sel.Organism)
	if err != nil {
		return 0, 0, err
	}
	arguments := pageArguments(o.id, sel, after, limit)
	arguments["error"] = sel.ErrorContains
	call := operatorCall{action: seqlease.ActionQuarantine, note: sel.Note}
	n, last, err := s.onPage(ctx, pageEntriesSQL, arguments, limit, &call, func(tx pgx.Tx, ids []int64) (int, error) {
		var current int64
		if err := tx.QueryRow(ctx, currentVersionSQL, pgx.StrictNamedArgs{"organism": o.id}).Scan(&current); err != nil {
			return 0, err
		}
		out, _, err := leaveQueue(ctx, tx, o.id, int64(sel.PipelineVersion), ids)
		if err != nil {
			return 0, err
		}
		var b quarantineRows
		entries := map[int64]bool{}
		for _, p := range out.places {
			if p.version < current {
				continue // nobody is given it any more: it only leaves the queue
			}
			entries[p.id] = true
			b.add(p, v.Reason, v.Result)
		}
		if len(entries) == 0 {
			return 0, nil
		}
		if err := call.count(ctx, tx, o.id, len(entries)); err != nil {
			return 0, err
		}
		return len(entries), b.store(ctx, tx, o.id, v.By)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("quarantine entries of %s after %d: %w", sel.Organism, after, err)
	}
	return n, last, nil
}

// Requeue takes entries out of quarantine (L16), as [queue.OperatorStore] says.
// What reprocessing put into the queue beside the quarantine is taken out of it.
func (s *Store) Requeue(ctx context.Context, sel queue.Selection, after int64, limit int) (int, int64, error) {
	o, err := s.organism(ctx, sel.Organism)
	if err != nil {
		return 0, 0, err
	}
	call := operatorCall{action: seqlease.ActionRequeue, note: sel.Note}
	var ranks map[seqlease.PipelineVersion]int64
	n, last, err := s.onPage(ctx, pageQuarantineSQL, pageArguments(o.id, sel, after, limit), limit, &call, func(tx pgx.Tx, ids []int64) (int, error) {
		ranks = map[seqlease.PipelineVersion]int64{}
		_, byVersion, err := quarantinedPlaces(ctx, tx, o.id, sel, ids)
		if err != nil {
			return 0, err
		}
		for _, version := range slices.Sorted(maps.Keys(byVersion)) {
			if _, _, err := leaveQueue(ctx, tx, o.id, version, byVersion[version]); err != nil {
				return 0, err
			}
		}
		// While that waited, a result may have ended the quarantine of an entry that
		// was processed again.
		n, byVersion, err := quarantinedPlaces(ctx, tx, o.id, sel, ids)
		if err != nil || n == 0 {
			return 0, err
		}
		for _, version := range slices.Sorted(maps.Keys(byVersion)) { // so that no two wait for each other's turns
			ids := byVersion[version]
			if _, err := insertTickets(ctx, tx, requeueSQL, s.ticketArguments(o.id, version, queue.LaneFresh, ids), ranks); err != nil {
				return 0, err
			}
		}
		if err := call.count(ctx, tx, o.id, n); err != nil {
			return 0, err
		}
		released, err := releasedAmong(ctx, tx, o.id, byVersion)
		if err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": released})
		return n, err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("requeue entries of %s after %d: %w", sel.Organism, after, err)
	}
	s.added(sel.Organism, o.id, queue.LaneFresh, ranks)
	return n, last, nil
}

// releasedAmong says whether results that go may be part of what is released: of
// locked entries, under the current version.
func releasedAmong(ctx context.Context, tx pgx.Tx, organismID int32, byVersion map[int64][]int64) (released bool, err error) {
	var versions, ids []int64
	for version, list := range byVersion {
		ids = append(ids, list...)
		versions = append(versions, slices.Repeat([]int64{version}, len(list))...)
	}
	err = tx.QueryRow(ctx, releasedAmongSQL, pgx.StrictNamedArgs{"organism": organismID, "versions": versions, "ids": ids}).Scan(&released)
	return released, err
}

// quarantinedPlaces returns for which versions which of the locked entries are in
// quarantine for the selection's reason, and how many entries that are.
func quarantinedPlaces(ctx context.Context, tx pgx.Tx, organismID int32, sel queue.Selection, ids []int64) (int, map[int64][]int64, error) {
	rows, err := tx.Query(ctx, quarantinedPlacesSQL, pgx.StrictNamedArgs{
		"organism": organismID, "version": int64(sel.PipelineVersion), "ids": ids, "error": sel.ErrorContains,
	})
	if err != nil {
		return 0, nil, err
	}
	var version, id int64
	entries, byVersion := map[int64]bool{}, map[int64][]int64{}
	_, err = pgx.ForEachRow(rows, []any{&version, &id}, func() error {
		entries[id] = true
		byVersion[version] = append(byVersion[version], id)
		return nil
	})
	return len(entries), byVersion, err
}

// Reprocess makes entries with a present result wait again beside it (L16, V9), as
// [queue.OperatorStore] says. One snapshot after the lock says whether an entry
// has a place in the queue: while it is locked nothing puts it there anew.
func (s *Store) Reprocess(ctx context.Context, sel queue.Selection, after int64, limit int) (int, int64, error) {
	o, err := s.organism(ctx, sel.Organism)
	if err != nil {
		return 0, 0, err
	}
	version, err := s.liveVersion(ctx, o.id, sel.Organism, sel.PipelineVersion)
	if err != nil {
		return 0, 0, err
	}
	sel.WorkerID = ""
	arguments := pageArguments(o.id, sel, after, limit)
	arguments["error"] = ""
	call := operatorCall{action: seqlease.ActionReprocess, note: sel.Note}
	var ranks map[seqlease.PipelineVersion]int64
	n, last, err := s.onPage(ctx, pageEntriesSQL, arguments, limit, &call, func(tx pgx.Tx, ids []int64) (int, error) {
		ranks = map[seqlease.PipelineVersion]int64{}
		n, err := insertTickets(ctx, tx, reprocessSQL, s.ticketArguments(o.id, version, queue.LaneBulk, ids), ranks)
		if err != nil || n == 0 {
			return 0, err
		}
		if err := call.count(ctx, tx, o.id, n); err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
		return n, err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reprocess entries of %s after %d: %w", sel.Organism, after, err)
	}
	s.added(sel.Organism, o.id, queue.LaneBulk, ranks)
	return n, last, nil
}

// ticketArguments are those of the statements that give entries tickets in a lane
// of a version; they look for its head from this process's bound on.
func (s *Store) ticketArguments(organismID int32, version int64, lane queue.Lane, ids []int64) pgx.StrictNamedArgs {
	m := s.memory(organismID, seqlease.PipelineVersion(version))
	m.mu.Lock()
	defer m.mu.Unlock()
	bound := m.after[lane]
	return pgx.StrictNamedArgs{"organism": organismID, "version": version, "ids": ids, "after_rank": bound.rank, "after_id": bound.id}
}

// insertTickets runs a statement that inserts tickets and returns how many, and
// notes the least rank of each version.
func insertTickets(ctx context.Context, tx pgx.Tx, statement string, arguments pgx.StrictNamedArgs, ranks map[seqlease.PipelineVersion]int64) (n int, err error) {
	rows, err := tx.Query(ctx, statement, arguments)
	if err != nil {
		return 0, err
	}
	n, least, err := ranksOf(rows)
	maps.Copy(ranks, least)
	return n, err
}

// added makes the claims of this process find what was put into a lane.
func (s *Store) added(o seqlease.Organism, organismID int32, lane queue.Lane, ranks map[seqlease.PipelineVersion]int64) {
	for version, rank := range ranks {
		s.moveBack(organismID, version, lane, rank)
	}
	if len(ranks) > 0 {
		s.bell.Ring(o)
	}
}
