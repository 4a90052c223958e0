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
}

// takeOut locks the entries, takes them out of the queue and tests their
// statuses. The order is that of every writer: entry, ticket and lease, result.
// An entry that a running lease of the current pipeline version held is in
// processing: the error undoes that it was taken out.
func (s *Store) takeOut(ctx context.Context, tx pgx.Tx, organismID int32, organism seqlease.Organism, entries []seqlease.AccessionVersion, allowed ...seqlease.Status) (takenOut, error) {
	locked, err := lockEntries(ctx, tx, organism, entries)
	if err != nil {
		return takenOut{}, err
	}
	out, running, err := leaveQueue(ctx, tx, organismID, locked.ids)
	if err != nil {
		return takenOut{}, err
	}
	states, err := readStates(ctx, tx, organismID, locked.ids)
	if err != nil {
		return takenOut{}, err
	}
	for id := range running {
		state := states[id]
		if state.status == seqlease.Processed || state.status == seqlease.Received {
			state.status = seqlease.InProcessing
			states[id] = state
		}
	}
	locked.wantStatuses(states, allowed...)
	return out, locked.err()
}

// leaveQueue takes locked entries out of the queue and returns those that a
// running lease of the current pipeline version held. An entry moves between
// ticket and lease in both directions, so one pass may miss it; but in any one
// snapshot it is in at most one place, and nothing puts it into the queue anew
// while it is locked. So when one snapshot shows neither, it stays out.
func leaveQueue(ctx context.Context, tx pgx.Tx, organismID int32, ids []int64) (takenOut, map[int64]bool, error) {
	out, running := takenOut{ids: ids}, map[int64]bool{}
	arguments := pgx.StrictNamedArgs{"organism": organismID, "ids": ids}
	for {
		var queued bool
		if err := tx.QueryRow(ctx, queuedSQL, arguments).Scan(&queued); err != nil || !queued {
			return out, running, err
		}
		if _, err := tx.Exec(ctx, deleteTicketsSQL, arguments); err != nil {
			return out, running, err
		}
		rows, err := tx.Query(ctx, cutLeasesSQL, arguments)
		if err != nil {
			return out, running, err
		}
		var id int64
		var attempt pgtype.UUID
		var runs bool
		_, err = pgx.ForEachRow(rows, []any{&id, &attempt, &runs}, func() error {
			out.attempts = append(out.attempts, attempt)
			if runs {
				running[id] = true
			}
			return nil
		})
		if err != nil {
			return out, running, err
		}
	}
}
