package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/semaphore"
)

// shares bound how many connections of the pool transactions may hold that last
// as long as there is data, so that claims, results and approvals always find
// one. Whoever is beyond a share waits in this process.
type shares struct {
	exports *semaphore.Weighted
	lists   *semaphore.Weighted
	uploads *semaphore.Weighted
}

// newShares gives each kind a quarter of the pool, but at least one connection.
// A pool that is too small for three kinds has them share.
func newShares(connections int32) shares {
	each := max(1, int64(connections)/4)
	s := shares{semaphore.NewWeighted(each), semaphore.NewWeighted(each), semaphore.NewWeighted(each)}
	if connections < 4 {
		s.lists = s.exports
	}
	if connections < 3 {
		s.uploads = s.exports
	}
	return s
}

// longTransaction is [Store.transaction] within a share.
func (s *Store) longTransaction(ctx context.Context, share *semaphore.Weighted, o pgx.TxOptions, f func(pgx.Tx) error) error {
	return s.longClosing(ctx, share, o, func(tx pgx.Tx) (*pgx.Batch, error) { return nil, f(tx) })
}

// longClosing is [Store.closing] within a share.
func (s *Store) longClosing(ctx context.Context, share *semaphore.Weighted, o pgx.TxOptions, f func(pgx.Tx) (last *pgx.Batch, err error)) error {
	if err := share.Acquire(ctx, 1); err != nil {
		return err
	}
	defer share.Release(1)
	return s.closing(ctx, o, f)
}
