package sqlite

import (
	"context"
	"fmt"
	"time"
)

// TrimHistory removes at most limit records of the history that ended longer than
// keep ago: claims and failures, neither of which starves the other.
func (s *Store) TrimHistory(ctx context.Context, keep time.Duration, limit int) (int, error) {
	trimmed := 0
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		trimmed = 0
		for i, statement := range []string{"trim_claims", "trim_failures", "trim_claims"} {
			most := limit - trimmed
			if i == 0 {
				most = limit / 2
			}
			n, err := t.exec(ctx, statement, named("keep", keep.Microseconds(), "limit", int64(most))...)
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
