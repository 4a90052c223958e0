package queue

import (
	"context"
	"fmt"
)

// Quarantine puts selected entries that wait or are in processing into quarantine
// and returns how many (L16). What submitters read is the reason, cleaned
// ([CleanReason]). Calls on selections go on page by page, each page a transaction:
// after an error the count says how far they came, and repeating them is harmless.
// Errors of all of them: [*seqlease.InvalidError] naming the member,
// [seqlease.ErrUnknownOrganism].
func (q *Queue) Quarantine(ctx context.Context, s Selection, by, reason string) (int, error) {
	if err := q.checkSelection(s); err != nil {
		return 0, err
	}
	reason = CleanReason(reason)
	s.Note = noteOf(by, s.target(), reason)
	v := OperatorVerdict{By: by, Reason: operatorVerdict(reason)}
	var err error
	if v.Result, err = packVerdict(q.store, s.Organism, v.Reason); err != nil {
		return 0, fmt.Errorf("quarantine %s: %w", s.Organism, err)
	}
	n, err := everyPage(ctx, s, func(ctx context.Context, s Selection, after int64) (int, int64, error) {
		return q.store.PutInQuarantine(ctx, s, v, after, operatorPage)
	})
	q.operated(ctx, "quarantine", s.Organism, by, reason, n, err)
	if err != nil {
		return n, fmt.Errorf("quarantine %s: %w", s.Organism, err)
	}
	return n, nil
}
