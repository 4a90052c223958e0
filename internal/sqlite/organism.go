package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// organismRow is an organism at an instant.
type organismRow struct {
	id      int64
	current seqlease.PipelineVersion
	now     int64
}

// organismState reads the organism and the instant of the transaction (L11), or
// [seqlease.ErrUnknownOrganism].
func organismState(ctx context.Context, t *tx, o seqlease.Organism) (organismRow, error) {
	var row organismRow
	err := t.row(ctx, "organism_state", named("organism", string(o)), &row.id, &row.current, &row.now)
	if errors.Is(err, sql.ErrNoRows) {
		return row, queue.UnknownOrganism(o)
	}
	return row, err
}
