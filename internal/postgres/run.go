package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
)

const (
	// acquireTimeout bounds the wait for a connection of the pool.
	acquireTimeout = 10 * time.Second
	// pingTimeout bounds the check of a connection that was idle.
	pingTimeout = 2 * time.Second
	// cleanUpTimeout bounds a tidy-up that must outlive a cancelled request.
	cleanUpTimeout = 10 * time.Second
	// maxTries is how often a transaction is tried that the server refuses for the
	// sake of another one.
	maxTries = 6
)

// with runs f with a connection of the pool. The error is translated.
func (s *Store) with(ctx context.Context, f func(*pgxpool.Conn) error) error {
	waiting, cancel := context.WithTimeout(ctx, acquireTimeout)
	c, err := s.pool.Acquire(waiting)
	cancel()
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%w: no database connection was free for %s", seqlease.ErrBusy, acquireTimeout)
		}
		return translate(err)
	}
	defer c.Release()
	switch err = translate(f(c)); {
	case errors.Is(err, seqlease.ErrStorageFull):
		s.full.note()
	case isStale(err) && s.resets.due():
		s.pool.Reset()
	}
	return err
}

// planned has a statement that reads a large part of a table planned each time,
// for the tables as they are. Only within a transaction: it takes two round trips.
const planned = pgx.QueryExecModeDescribeExec

// readOnly gives statements one snapshot.
var readOnly = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// transaction runs f in a transaction and commits it unless f returns an error.
func (s *Store) transaction(ctx context.Context, o pgx.TxOptions, f func(pgx.Tx) error) error {
	return s.closing(ctx, o, func(tx pgx.Tx) (*pgx.Batch, error) { return nil, f(tx) })
}

// closing is [Store.transaction] with statements at the end that answer nothing. They
// go in one round trip with the commit, so that what they lock, and others wait for, is
// held for no longer than that takes.
func (s *Store) closing(ctx context.Context, o pgx.TxOptions, f func(pgx.Tx) (last *pgx.Batch, err error)) error {
	return s.with(ctx, func(c *pgxpool.Conn) (err error) {
		tx, err := c.BeginTx(ctx, o)
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
				defer cancel()
				// It fails only with the connection, which rolls back, too.
				_ = tx.Rollback(tidy)
			}
		}()
		last, err := f(tx)
		if err != nil {
			return err
		}
		if last == nil {
			return tx.Commit(ctx)
		}
		last.Queue("commit")
		return tx.SendBatch(ctx, last).Close()
	})
}

//go:embed sql/plan_settings.sql
var planSettingsSQL string

// byKey are transactions that look rows up by key, whatever the tables' sizes were when
// their statements were planned. The settings go in one round trip with the begin.
var byKey = pgx.TxOptions{BeginQuery: "begin;\n" + planSettingsSQL}

// change runs f in a transaction that looks rows up by key.
func (s *Store) change(ctx context.Context, f func(pgx.Tx) error) error {
	return s.transaction(ctx, byKey, f)
}

// withSettings runs a settings statement and then the statement, both in one
// round trip and one implicit transaction, and hands the rows of the second to
// read. The answer counts only if the error is nil: it may come at the end.
func withSettings(ctx context.Context, c *pgxpool.Conn, settings, text string, arguments pgx.StrictNamedArgs, read func(pgx.Rows) error) error {
	return inOneTrip(ctx, c, settings, text, []any{arguments}, read)
}

func inOneTrip(ctx context.Context, c *pgxpool.Conn, settings, text string, arguments []any, read func(pgx.Rows) error) (err error) {
	batch := &pgx.Batch{}
	batch.Queue(settings)
	batch.Queue(text, arguments...)
	results := c.SendBatch(ctx, batch)
	defer func() {
		if closed := results.Close(); err == nil {
			err = closed
		}
	}()
	if _, err := results.Exec(); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}

// retry runs f again, a bounded number of times with a jittered pause, while
// the server refuses it for the sake of another transaction or it never
// reached the server: in both cases nothing was changed.
func (s *Store) retry(ctx context.Context, f func() error) error {
	return s.again(ctx, f, func(err error) bool { return isConflict(err) || pgconn.SafeToRetry(err) })
}

// repeat is retry for what may be done twice: also a lost connection is tried again.
func (s *Store) repeat(ctx context.Context, f func() error) error {
	return s.again(ctx, f, func(err error) bool { return isConflict(err) || pgconn.SafeToRetry(err) || isConnectionLost(err) })
}

func (s *Store) again(ctx context.Context, f func() error, repeatable func(error) bool) error {
	pause := 5 * time.Millisecond
	for try := 1; ; try++ {
		err := f()
		if err == nil || try == maxTries || !repeatable(err) || ctx.Err() != nil {
			return err
		}
		s.logger.WarnContext(ctx, "transaction repeated", "repetitions", s.repetitions.Add(1), "error", err)
		timer := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // jitter, not a secret
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		pause *= 2
	}
}
