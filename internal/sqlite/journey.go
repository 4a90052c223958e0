package sqlite

import (
	"context"

	"github.com/seqlease/seqlease/internal/queue"
)

// journey reads what happened to an entry besides its claims and failures, and how
// much of it is left out.
func journey(ctx context.Context, t *tx, entryID int64, limit int) (events []queue.Event, omitted int64, err error) {
	left := map[queue.EventKind]int64{} // all rows of a kind say the same
	err = t.rows(ctx, "journey", named("entry_id", entryID, "limit", int64(limit)), func(scan func(...any) error) error {
		var e queue.Event
		var at, omitted int64
		var id []byte
		err := scan(&at, &e.Kind, &e.By, &e.PipelineVersion, &id, &e.Detail, &omitted)
		e.At = instant(at)
		copy(e.AttemptID[:], id)
		left[e.Kind] = omitted
		events = append(events, e)
		return err
	})
	for _, n := range left {
		omitted += n
	}
	return events, omitted, err
}
