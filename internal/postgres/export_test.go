package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pressly/goose/v3"
)

// The statements whose plans are tested.
var (
	ClaimSQL          = claimSQL
	ClaimFreshSQL     = claimFreshSQL
	ClaimSettingsSQL  = claimSettingsSQL
	AcceptSettingsSQL = acceptSettingsSQL

	PipelineStatisticsSQL = pipelineStatisticsSQL
	RevokeSQL             = revokeSQL
	ReleasedAmongSQL      = releasedAmongSQL
	TakeSpentSQL          = takeSpentSQL
	DeleteEntriesSQL      = deleteEntriesSQL
	ReprocessSQL          = reprocessSQL
	MaySwitchSQL          = maySwitchSQL
	FindBlockerSQL        = findBlockerSQL
)

// Forget drops what this process remembers of the queues.
func (s *Store) Forget() { s.forgetQueues() }

// Pool lets tests look at the database and stand in the way.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Repetitions is how many transactions were tried again.
func (s *Store) Repetitions() int64 { return s.repetitions.Load() }

// MigrateTo brings the schema up or down to a version.
func MigrateTo(ctx context.Context, address string, version int64) error {
	return withProvider(address, func(p *goose.Provider) error {
		current, err := p.GetDBVersion(ctx)
		if err != nil {
			return err
		}
		if version < current {
			_, err = p.DownTo(ctx, version)
		} else {
			_, err = p.UpTo(ctx, version)
		}
		return err
	})
}
