package postgres

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
)

//go:embed sql/queued.sql
var queuedSQL string

//go:embed sql/delete_tickets.sql
var deleteTicketsSQL string

//go:embed sql/cut_leases.sql
var cutLeasesSQL string

// takenOut are locked entries that are in no lease and have no ticket.
type takenOut struct {
	ids      []int64
	attempts []pgtype.UUID // whose leases they were cut from
	places   []queuePlace
}

// queuePlace is where an entry was in the queue of a version.
type queuePlace struct {
	id                 int64
	version            int64
	attempts, handOuts int32
}

// statesAfter returns where locked entries stand that were taken out of the queue,
// of which a running lease held some: with a result they are processed, though they
// were so again (V9).
func statesAfter(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64, running map[int64]bool) (map[int64]entryState, error) {
	states, err := readStates(ctx, tx, organismID, ids)
	for id := range running {
		if state := states[id]; state.status == seqlease.Received {
			state.status = seqlease.InProcessing
			states[id] = state
		}
	}
	return states, err
}

// leaveQueue takes locked entries out of the queue of the version (0: every one)
// and returns those that a running lease of the current pipeline version held. An
// entry moves between ticket and lease in both directions, so one pass may miss
// it; but in any one snapshot it is in at most one place, and nothing puts it into
// the queue anew while it is locked. So when one snapshot shows neither, it stays
// out.
func leaveQueue(ctx context.Context, tx pgx.Tx, organismID int32, version int64, ids []int64) (takenOut, map[int64]bool, error) {
	out, running := takenOut{ids: ids}, map[int64]bool{}
	arguments := pgx.StrictNamedArgs{"organism": organismID, "version": version, "ids": ids}
	for {
		var queued bool
		if err := tx.QueryRow(ctx, queuedSQL, arguments).Scan(&queued); err != nil || !queued {
			return out, running, err
		}
		rows, err := tx.Query(ctx, deleteTicketsSQL, arguments)
		if err != nil {
			return out, running, err
		}
		var p queuePlace
		_, err = pgx.ForEachRow(rows, []any{&p.id, &p.version, &p.attempts, &p.handOuts}, func() error {
			out.places = append(out.places, p)
			return nil
		})
		if err != nil {
			return out, running, err
		}
		if rows, err = tx.Query(ctx, cutLeasesSQL, arguments); err != nil {
			return out, running, err
		}
		var attempt pgtype.UUID
		var runs bool
		_, err = pgx.ForEachRow(rows, []any{&p.id, &attempt, &runs, &p.version, &p.attempts, &p.handOuts}, func() error {
			out.attempts, out.places = append(out.attempts, attempt), append(out.places, p)
			if runs {
				running[p.id] = true
			}
			return nil
		})
		if err != nil {
			return out, running, err
		}
	}
}
