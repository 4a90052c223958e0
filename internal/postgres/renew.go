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

//go:embed sql/renew.sql
var renewSQL string

//go:embed sql/lost_entries.sql
var lostEntriesSQL string

// Renew moves the end of a running lease (L7), as [queue.RenewStore] says. It may
// be repeated after a lost answer: the end only moves on.
func (s *Store) Renew(ctx context.Context, r queue.Renew) (queue.Renewed, error) {
	o, err := s.organism(ctx, r.Organism)
	if err != nil {
		return queue.Renewed{}, err
	}
	var renewed queue.Renewed
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) (err error) {
			renewed, err = renew(ctx, c, o.id, r)
			return err
		})
	})
	if err != nil {
		return queue.Renewed{}, fmt.Errorf("renew %s: %w", r.AttemptID, err)
	}
	if renewed.Held == 0 {
		return queue.Renewed{}, queue.RenewalLost(r)
	}
	return renewed, nil
}

// renew asks in one round trip and one implicit transaction. What was lost is read
// by a statement of its own: its snapshot is younger than the wait for the lease.
func renew(ctx context.Context, c *pgxpool.Conn, organismID int32, r queue.Renew) (renewed queue.Renewed, err error) {
	batch := &pgx.Batch{}
	batch.Queue(planSettingsSQL)
	batch.Queue(renewSQL, pgx.StrictNamedArgs{
		"attempt": uuid(r.AttemptID), "organism": organismID, "claimed_by": r.ClaimedBy, "seconds": int64(r.Lease / time.Second),
	})
	batch.Queue(lostEntriesSQL, pgx.StrictNamedArgs{"attempt": uuid(r.AttemptID)})
	results := c.SendBatch(ctx, batch)
	defer func() {
		if closed := results.Close(); err == nil {
			err = closed
		}
	}()
	if _, err := results.Exec(); err != nil {
		return renewed, err
	}
	var until *time.Time
	var seconds int64
	if err := results.QueryRow().Scan(&renewed.Held, &until, &seconds); err != nil {
		return renewed, err
	}
	if until != nil {
		renewed.Until, renewed.Lease = until.UTC(), time.Duration(seconds)*time.Second
	}
	rows, err := results.Query()
	if err != nil {
		return renewed, err
	}
	renewed.Lost, err = pgx.CollectRows(rows, pgx.RowToStructByPos[seqlease.AccessionVersion])
	return renewed, err
}
