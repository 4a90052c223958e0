package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/sweep.sql
var sweepSQL string

//go:embed sql/trim_failures.sql
var trimFailuresSQL string

//go:embed sql/trim_claims.sql
var trimClaimsSQL string

//go:embed sql/trim_cuts.sql
var trimCutsSQL string

// Sweep ends leases that have run out (L4), as [queue.KeeperStore] says. It is one
// statement, and skips what others are working on.
func (s *Store) Sweep(ctx context.Context, limit int) (int, []queue.EndedLease, error) {
	var leases int
	var rank int64
	var organisms []seqlease.Organism
	var users, workers []string
	arguments := pgx.StrictNamedArgs{"limit": limit, "max_attempts": s.limits.Attempts, "max_hand_outs": s.limits.HandOuts}
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, sweepSQL, arguments, func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&leases, &rank, &organisms, &users, &workers}, func() error { return nil })
				return err
			})
		})
	})
	if err != nil {
		return 0, nil, fmt.Errorf("sweep ended leases: %w", err)
	}
	if len(organisms) > 0 {
		s.moveSuspectsBack(0, 0, rank)
	}
	for _, o := range organisms {
		s.bell.Ring(o)
	}
	ended := make([]queue.EndedLease, len(users))
	for i, user := range users {
		ended[i] = queue.EndedLease{ClaimedBy: user, WorkerID: workers[i]}
	}
	return leases, ended, nil
}

// TrimHistory removes old records of the history, as [queue.KeeperStore] says.
func (s *Store) TrimHistory(ctx context.Context, keep time.Duration, limit int) (int, error) {
	removed := 0
	// Neither may starve the other, and what one leaves of its half is the other's.
	for i, statement := range []string{trimFailuresSQL, trimClaimsSQL, trimFailuresSQL} {
		most := limit - removed
		if i == 0 {
			most = limit / 2
		}
		n, err := s.trim(ctx, statement, pgx.StrictNamedArgs{"keep": keep.Microseconds(), "limit": most})
		if err != nil {
			return removed, fmt.Errorf("trim the history: %w", err)
		}
		removed += n
	}
	if _, err := s.trim(ctx, trimCutsSQL, pgx.StrictNamedArgs{"limit": limit}); err != nil {
		return removed, fmt.Errorf("trim the history: %w", err)
	}
	return removed, nil
}

func (s *Store) trim(ctx context.Context, statement string, arguments pgx.StrictNamedArgs) (removed int, err error) {
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, statement, arguments)
			removed = int(tag.RowsAffected())
			return err
		})
	})
	return removed, err
}
