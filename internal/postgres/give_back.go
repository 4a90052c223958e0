package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/give_back.sql
var giveBackSQL string

// GiveBack ends the attempt's lease and makes its entries wait again (L8), as
// [queue.Store] says. A lease that has run out is left to whoever takes it over,
// unless it wasn't delivered.
func (s *Store) GiveBack(ctx context.Context, g queue.GiveBack) (int, error) {
	arguments := pgx.StrictNamedArgs{"attempt": uuid(g.AttemptID), "counts": g.CountsAsAttempt, "undelivered": g.Undelivered}
	var entries int
	var organismID int32
	var version seqlease.PipelineVersion
	var first int64
	// Given back twice is given back once, so it may be repeated after a lost answer;
	// the count is then that of the last try.
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, giveBackSQL, arguments, func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&entries, &organismID, &version, &first}, func() error { return nil })
				return err
			})
		})
	})
	if err != nil {
		return 0, fmt.Errorf("give back %s: %w", g.AttemptID, err)
	}
	if entries > 0 {
		s.lane(organismID, version).moveBack(first)
	}
	return entries, nil
}
