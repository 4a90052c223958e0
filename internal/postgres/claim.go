package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/claim.sql
var claimSQL string

//go:embed sql/claim_settings.sql
var claimSettingsSQL string

//go:embed sql/peek_queue.sql
var peekQueueSQL string

// claimTries is how often a claim is made anew after its commit's answer was lost.
const claimTries = 3

// Claim moves waiting entries under the attempt (L2, L4), as [queue.Store] says.
func (s *Store) Claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	o, err := s.organism(ctx, c.Organism)
	if err != nil {
		return queue.Lease{}, err
	}
	l := s.lane(o.id, c.PipelineVersion)
	if c.Entries == 0 {
		mark, _, err := s.peek(ctx, o.id, c)
		return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: mark}, err
	}
	arrived, distrust := l.arrive(), false
	for {
		switch do := l.next(distrust); {
		case do.peek != nil:
			mark, now, err := s.peek(ctx, o.id, c)
			if err != nil || do.peek.holds(mark, now) {
				return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: mark}, err
			}
			distrust = true
		case do.wait != nil:
			select {
			case <-do.wait.done:
			case <-ctx.Done():
				return queue.Lease{}, ctx.Err()
			}
			if do.wait.empty && do.wait.number > arrived {
				return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: do.wait.mark}, nil
			}
		default:
			return s.claimAt(ctx, l, o.id, c, do)
		}
	}
}

// claimAt looks for work where it is told to.
func (s *Store) claimAt(ctx context.Context, l *lane, organismID int32, c queue.Claim, do step) (queue.Lease, error) {
	var found *scanned
	if do.lead != nil {
		defer func() { l.end(do.lead, found) }()
	}
	for try := 1; ; try++ {
		result, err := s.scan(ctx, organismID, c, do.look)
		if err == nil {
			l.note(do.look, c.Entries, result)
			found = result
			break
		}
		if !isConnectionLost(err) || pgconn.SafeToRetry(err) {
			return queue.Lease{}, err
		}
		// Whether it was committed is unknown: give it back, uncounted, and claim anew.
		if undo := s.giveBackDetached(ctx, c.AttemptID); undo != nil || try == claimTries || ctx.Err() != nil {
			return queue.Lease{}, err
		}
		c.AttemptID = seqlease.NewAttemptID()
	}
	return queue.Lease{
		AttemptID: c.AttemptID, Until: found.leaseUntil, Lease: c.Lease, Entries: found.entries, Ended: found.ended, Mark: found.mark,
	}, nil
}

// giveBackDetached undoes a claim also when ctx is cancelled.
func (s *Store) giveBackDetached(ctx context.Context, id seqlease.AttemptID) error {
	tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	_, err := s.GiveBack(tidy, queue.GiveBack{AttemptID: id, Undelivered: true})
	return err
}

// scanned is what the claim statement answers.
type scanned struct {
	now, leaseUntil time.Time
	mark            string
	earliestEnd     *time.Time
	lastAhead       int64 // greatest entry id taken beyond the bound, 0 if none
	lastBehind      int64 // and behind it
	firstSurplus    int64 // least entry id of an ended lease that waits again, 0 if none
	ended           int
	entries         []queue.ClaimedEntry
}

// scan makes the claim.
func (s *Store) scan(ctx context.Context, organismID int32, c queue.Claim, at look) (*scanned, error) {
	probeFrom := pgtype.Timestamptz{Time: at.probeFrom, Valid: true}
	if at.probeFrom.IsZero() {
		probeFrom.InfinityModifier = pgtype.NegativeInfinity
	}
	payload := queue.PayloadBytes
	if c.Entries > queue.PayloadLimit {
		payload = 0
	}
	arguments := pgx.StrictNamedArgs{
		"organism": organismID, "version": int64(c.PipelineVersion), "n": c.Entries, "after": at.after, "probe": at.whole,
		"probe_from": probeFrom, "attempt": uuid(c.AttemptID), "seconds": int64(c.Lease / time.Second),
		"claimed_by": c.ClaimedBy, "worker_id": c.WorkerID, "payload": payload,
	}
	var found *scanned
	err := s.retry(ctx, func() error {
		found = &scanned{}
		return s.with(ctx, func(conn *pgxpool.Conn) error {
			return withSettings(ctx, conn, claimSettingsSQL, claimSQL, arguments, func(rows pgx.Rows) error { return found.read(rows, c) })
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.entries, func(a, b queue.ClaimedEntry) int { return cmp.Compare(a.Place, b.Place) })
	return found, nil
}

// read takes in the head row, which has place -1, and the entries.
func (f *scanned) read(rows pgx.Rows, c queue.Claim) error {
	var current, ahead, behind, surplus, ended *int64
	var registered *bool
	var now, until, earliest, submittedAt *time.Time
	var mark *string
	for rows.Next() {
		var e queue.ClaimedEntry
		if err := rows.Scan(&e.Place, &now, &until, &mark, &current, &registered, &earliest, &ahead, &behind, &surplus, &ended,
			&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.GroupID, &submittedAt, &e.Attempt,
			&e.Packed.Dictionary, &e.Packed.Bytes); err != nil {
			return err
		}
		if e.Place >= 0 {
			e.SubmittedAt = submittedAt.UTC()
			f.entries = append(f.entries, e)
			continue
		}
		if err := queue.CheckLive(c.Organism, c.PipelineVersion, seqlease.PipelineVersion(*current), *registered); err != nil {
			return err
		}
		f.now, f.leaseUntil, f.mark, f.earliestEnd, f.ended = now.UTC(), until.UTC(), *mark, earliest, int(*ended)
		f.lastAhead, f.lastBehind, f.firstSurplus = orZero(ahead), orZero(behind), orZero(surplus)
	}
	return rows.Err()
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// peek reads the mark and the database's clock.
func (s *Store) peek(ctx context.Context, organismID int32, c queue.Claim) (string, time.Time, error) {
	var current seqlease.PipelineVersion
	var registered bool
	var now time.Time
	var mark *string
	err := s.retry(ctx, func() error {
		return s.with(ctx, func(conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, peekQueueSQL, pgx.StrictNamedArgs{"organism": organismID, "version": int64(c.PipelineVersion)}).
				Scan(&current, &registered, &now, &mark)
		})
	})
	if err != nil {
		return "", time.Time{}, err
	}
	if err := queue.CheckLive(c.Organism, c.PipelineVersion, current, registered); err != nil {
		return "", time.Time{}, err
	}
	return *mark, now.UTC(), nil
}

func uuid(id seqlease.AttemptID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }
