package queue

import (
	"context"
	"fmt"
)

// Requeue takes selected entries out of quarantine, so that they wait with no
// attempts used, and returns how many (L9, L16).
func (q *Queue) Requeue(ctx context.Context, s Selection, by, reason string) (int, error) {
	if err := q.checkSelection(s); err != nil {
		return 0, err
	}
	s.Note = noteOf(by, s.target(), reason)
	n, err := everyPage(ctx, s, func(ctx context.Context, s Selection, after int64) (int, int64, error) {
		return q.store.Requeue(ctx, s, after, operatorPage)
	})
	q.operated(ctx, "requeue", s.Organism, by, CleanReason(reason), n, err)
	if err != nil {
		return n, fmt.Errorf("requeue %s: %w", s.Organism, err)
	}
	return n, nil
}
