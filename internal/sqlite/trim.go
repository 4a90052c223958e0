package sqlite

import (
	"context"
	"fmt"
	"time"
)

// TrimHistory removes at most limit records of the history that ended longer than
// keep ago: claims first, then failures.
func (s *Store) TrimHistory(ctx context.Context, keep time.Duration, limit int) (int, error) {
	trimmed := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		trimmed = 0
		for _, statement := range []string{"trim_claims", "trim_failures"} {
			n, err := t.exec(ctx, statement, named("keep", keep.Microseconds(), "limit", int64(limit-trimmed))...)
			if err != nil {
				return err
			}
			trimmed += int(n)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("trim the history: %w", err)
	}
	return trimmed, nil
}
