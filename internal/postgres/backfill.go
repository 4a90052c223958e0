package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
)

//go:embed sql/unfinished_backfills.sql
var unfinishedBackfillsSQL string

//go:embed sql/backfill_settings.sql
var backfillSettingsSQL string

//go:embed sql/lock_backfill.sql
var lockBackfillSQL string

//go:embed sql/find_backfill.sql
var findBackfillSQL string

//go:embed sql/backfill_turns.sql
var backfillTurnsSQL string

//go:embed sql/insert_backfill.sql
var insertBackfillSQL string

//go:embed sql/advance_backfill.sql
var advanceBackfillSQL string

//go:embed sql/end_backfill.sql
var endBackfillSQL string

//go:embed sql/confirm_backfill.sql
var confirmBackfillSQL string

// passPause is how long it takes from a pass of a backfill that wasn't settled to
// the next such one: a transaction that stays open for hours must not make others
// wait for the tickets of what was committed meanwhile.
const passPause = 5 * time.Minute

// The stages of a pass.
const (
	stageUnreleased = 0
	stageReleased   = 1
	stagePassed     = 2 // the pass has ended and wasn't settled
)

// place is how far a backfill is (see the migration).
type place struct {
	stage          int16
	settled        bool
	afterID        int64
	afterAccession string
	afterVersion   int64
}

// lockedPlace is what the lock of a chunk shows.
type lockedPlace struct {
	place
	settles bool // a pass that begins now is settled
	due     bool // an unsettled pass ended long ago
}

// Backfill adds a chunk of tickets (V3), as [reprocess.Store] says. It locks no
// entry, as that would write to each: what keeps an entry in one place is the
// unique ticket, a look at the leases after the tickets are written
// (confirm_backfill), and one more by edits after theirs are.
func (s *Store) Backfill(ctx context.Context, organism seqlease.Organism, version seqlease.PipelineVersion, limit int) (reprocess.Chunk, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return reprocess.Chunk{}, err
	}
	b := backfill{organismID: o.id, version: version, limit: limit, bound: s.boundOf(o.id, version, queue.LaneBulk)}
	var chunk reprocess.Chunk
	err = s.again(ctx, func() error {
		chunk = reprocess.Chunk{}
		return s.closing(ctx, pgx.TxOptions{BeginQuery: "begin;\n" + backfillSettingsSQL}, func(tx pgx.Tx) (*pgx.Batch, error) {
			return b.chunk(ctx, tx, &chunk)
		})
	}, func(err error) bool {
		return isUniqueViolation(err) || isConflict(err) || isConnectionLost(err) || pgconn.SafeToRetry(err)
	})
	if err != nil {
		return reprocess.Chunk{}, fmt.Errorf("backfill version %d of %s: %w", version, organism, err)
	}
	if chunk.Tickets > 0 {
		s.added(organism, o.id, queue.LaneBulk, map[seqlease.PipelineVersion]int64{version: b.rank})
	}
	return chunk, nil
}

// isUniqueViolation says that somebody else, such as an edit, added a ticket that a
// chunk was about to add.
func isUniqueViolation(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == uniqueViolation
}

// boundOf returns the bound of a lane of the version's queue that this process knows.
func (s *Store) boundOf(organismID int32, version seqlease.PipelineVersion, lane queue.Lane) spot {
	m := s.memory(organismID, version)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.after[lane]
}

// backfill is one chunk under way.
type backfill struct {
	organismID int32
	version    seqlease.PipelineVersion
	limit      int
	bound      spot
	rank       int64 // the least of the tickets that were added
}

// with adds the names of the version to the arguments.
func (b *backfill) with(arguments pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	arguments["organism"], arguments["version"] = b.organismID, int64(b.version)
	return arguments
}

// chunk returns what the transaction ends with, and then what the chunk is; how many
// tickets stay is known when it is committed.
func (b *backfill) chunk(ctx context.Context, tx pgx.Tx, chunk *reprocess.Chunk) (last *pgx.Batch, err error) {
	at, progress, err := b.lock(ctx, tx)
	if chunk.Progress = progress; err != nil || progress != reprocess.More {
		return nil, err
	}
	from := at.place
	switch {
	case !at.settled && at.settles:
		from = place{settled: true}
	case at.stage == stagePassed && at.due:
		from = place{}
	case at.stage == stagePassed:
		chunk.Progress = reprocess.Waiting
		return nil, nil
	}
	next, found, err := b.find(ctx, tx, from)
	if err != nil {
		return nil, err
	}
	last = &pgx.Batch{}
	chunk.Progress = b.move(last, next)
	if len(found) > 0 {
		err = b.addTickets(ctx, tx, last, found, chunk)
	}
	return last, err
}

// lock takes the lock of the chunk; the progress is More if this transaction has it.
func (b *backfill) lock(ctx context.Context, tx pgx.Tx) (at lockedPlace, progress reprocess.Progress, err error) {
	var unfinished bool
	var stage *int16 // null: the row is not there, or locked
	arguments := b.with(pgx.StrictNamedArgs{"pause": int(passPause / time.Second)})
	err = tx.QueryRow(ctx, lockBackfillSQL, arguments).
		Scan(&unfinished, &stage, &at.settled, &at.settles, &at.due, &at.afterID, &at.afterAccession, &at.afterVersion)
	switch {
	case err != nil:
		return at, reprocess.Busy, err
	case stage != nil:
		at.stage = *stage
		return at, reprocess.More, nil
	case unfinished:
		return at, reprocess.Busy, nil
	default:
		return at, reprocess.Complete, nil
	}
}

// gap is an entry that the version lacks.
type gap struct{ id, group, rank int64 }

// find returns the gaps among the next entries from a place on, by id.
func (b *backfill) find(ctx context.Context, tx pgx.Tx, from place) (next place, gaps []gap, err error) {
	next = from
	var looked int
	var ids, groups []int64
	err = tx.QueryRow(ctx, findBackfillSQL, b.with(pgx.StrictNamedArgs{
		"released": from.stage == stageReleased, "after_id": from.afterID, "after_accession": from.afterAccession,
		"after_version": from.afterVersion, "limit": b.limit,
	})).Scan(&looked, &next.afterID, &next.afterAccession, &next.afterVersion, &ids, &groups)
	if looked < b.limit {
		next.stage++
	}
	gaps = make([]gap, len(ids))
	for i, id := range ids {
		gaps[i] = gap{id: id, group: groups[i]}
	}
	slices.SortFunc(gaps, func(x, y gap) int { return cmp.Compare(x.id, y.id) })
	return next, gaps, err
}

// addTickets has the tickets written, and counts those that stay. The turns come last,
// as others wait for whoever changed one.
func (b *backfill) addTickets(ctx context.Context, tx pgx.Tx, last *pgx.Batch, gaps []gap, chunk *reprocess.Chunk) error {
	groups, lastRanks, err := b.rankGaps(ctx, tx, gaps)
	if err != nil {
		return err
	}
	ids, ranks := make([]int64, len(gaps)), make([]int64, len(gaps))
	for i, g := range gaps {
		ids[i], ranks[i] = g.id, g.rank
	}
	b.rank = slices.Min(ranks)
	last.Queue(insertBackfillSQL, b.with(pgx.StrictNamedArgs{"ids": ids, "ranks": ranks}))
	last.Queue(confirmBackfillSQL, b.with(pgx.StrictNamedArgs{
		"ids": ids, "first_id": ids[0], "last_id": ids[len(ids)-1], "groups": groups, "last_ranks": lastRanks,
	})).QueryRow(func(row pgx.Row) error {
		var takenBack int
		err := row.Scan(&takenBack)
		chunk.Tickets = len(ids) - takenBack
		return err
	})
	return nil
}

// rankGaps gives the gaps turns of their groups (L17): behind the head of the lane,
// and behind what the group has there already. It returns the last of each group.
func (b *backfill) rankGaps(ctx context.Context, tx pgx.Tx, gaps []gap) (groups, lastRanks []int64, err error) {
	last := map[int64]int64{}
	for _, g := range gaps {
		last[g.group] = 0
	}
	groups = slices.Sorted(maps.Keys(last))
	var head int64
	arguments := b.with(pgx.StrictNamedArgs{"groups": groups, "bound_rank": b.bound.rank, "bound_id": b.bound.id})
	if err := tx.QueryRow(ctx, backfillTurnsSQL, arguments).Scan(&head, &lastRanks); err != nil {
		return nil, nil, err
	}
	for i, group := range groups {
		last[group] = max(head, lastRanks[i])
	}
	for i := range gaps {
		last[gaps[i].group]++
		gaps[i].rank = last[gaps[i].group]
	}
	for i, group := range groups {
		lastRanks[i] = last[group]
	}
	return groups, lastRanks, nil
}

// move has it noted how far the backfill is, or ends it.
func (b *backfill) move(last *pgx.Batch, to place) reprocess.Progress {
	if to.stage == stagePassed && to.settled {
		last.Queue(endBackfillSQL, b.with(pgx.StrictNamedArgs{}))
		return reprocess.Complete
	}
	last.Queue(advanceBackfillSQL, b.with(pgx.StrictNamedArgs{
		"stage": to.stage, "settled": to.settled, "after_id": to.afterID, "after_accession": to.afterAccession, "after_version": to.afterVersion,
	}))
	if to.stage == stagePassed {
		return reprocess.Waiting
	}
	return reprocess.More
}

// Unfinished lists the backfills that aren't complete.
func (s *Store) Unfinished(ctx context.Context) ([]reprocess.Version, error) {
	var list []reprocess.Version
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, unfinishedBackfillsSQL)
			if err != nil {
				return err
			}
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[reprocess.Version])
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list unfinished backfills: %w", err)
	}
	return list, nil
}
