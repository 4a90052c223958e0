package postgres

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/journey.sql
var journeySQL string

// journey reads what happened to an entry besides its claims and failures, and how
// much of it is left out.
func journey(ctx context.Context, tx pgx.Tx, id int64, limit int) (events []queue.Event, omitted int64, err error) {
	rows, err := tx.Query(ctx, journeySQL, pgx.StrictNamedArgs{"id": id, "limit": limit})
	if err != nil {
		return nil, 0, err
	}
	left := map[queue.EventKind]int64{} // all rows of a kind say the same
	events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e queue.Event, err error) {
		var attempt pgtype.UUID
		var version *int64
		var omitted int64
		err = row.Scan(&e.At, &e.Kind, &e.By, &version, &attempt, &e.Detail, &omitted)
		e.At, e.AttemptID = e.At.UTC(), attempt.Bytes
		if version != nil {
			e.PipelineVersion = seqlease.PipelineVersion(*version)
		}
		left[e.Kind] = omitted
		return e, err
	})
	for _, n := range left {
		omitted += n
	}
	return events, omitted, err
}
