package postgres

import (
	"context"
	_ "embed"
	"errors"
	"maps"
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

var claimStatement = numbered("claim", claimSQL)

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
	if c.Entries == 0 {
		p, err := s.peek(ctx, o.id, c)
		return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: p.mark, Paused: p.paused}, err
	}
	lease, err := s.claimFrom(ctx, s.memory(o.id, c.PipelineVersion), o.id, c)
	if errors.Is(err, seqlease.ErrPipelineUnknown) || errors.Is(err, seqlease.ErrPipelineOutdated) {
		s.forget(o.id, c.PipelineVersion)
	}
	return lease, err
}

// claimFrom claims as far as what is remembered of the queue doesn't prove it empty.
// Nearly always fresh entries or bulk work wait and nothing else is due: then the
// statement that takes those is enough, and claims go together. Where it finds none,
// many claims do so at once: one of them looks at all rounds, and the others
// have that answer, or claim again where it found something.
func (s *Store) claimFrom(ctx context.Context, m *memory, organismID int32, c queue.Claim) (queue.Lease, error) {
	arrived, distrust, shared := m.arrive(), false, 0
	for {
		do := m.next(distrust)
		if do.isLook() && do.look.onlyFresh(c.Entries) {
			lease, err := s.claimAt(ctx, m, organismID, c, do, s.claimFresh)
			if err != nil || len(lease.Entries) > 0 {
				return lease, err
			}
			c.AttemptID = lease.AttemptID
			if shared < sharedLooks {
				shared, do = shared+1, m.share(do.look)
			}
		}
		switch {
		case do.peek != nil:
			p, err := s.peek(ctx, organismID, c)
			if err != nil || do.peek.holds(p.mark, p.now) {
				return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: p.mark, Paused: p.paused}, err
			}
			distrust = true
		case do.wait != nil:
			select {
			case <-do.wait.done:
			case <-ctx.Done():
				return queue.Lease{}, ctx.Err()
			}
			if do.wait.empty && do.wait.number > arrived {
				return queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease, Mark: do.wait.mark, Paused: do.wait.paused}, nil
			}
			if !do.wait.empty && !do.wait.fresh {
				shared = sharedLooks // it failed, or what waits doesn't go to many at once
			}
		default:
			return s.claimAt(ctx, m, organismID, c, do, s.scan)
		}
	}
}

// sharedLooks is how many looks of others a claim that found nothing fresh waits for:
// then it looks at all rounds by itself.
const sharedLooks = 3

// claimAt looks for work where it is told to, by the statement that is given. Ended
// leases may have held nothing but spent entries: then it looks again, as there may be
// others behind them.
func (s *Store) claimAt(ctx context.Context, m *memory, organismID int32, c queue.Claim, do step,
	scan func(context.Context, *memory, int32, queue.Claim, look) (*claimed, error),
) (queue.Lease, error) {
	var found *claimed
	if do.lead != nil {
		defer func() { m.end(do.lead, found) }()
	}
	var ended []queue.EndedLease
	for lost := 0; ; {
		result, err := scan(ctx, m, organismID, c, do.look)
		if err == nil {
			ended = append(ended, result.ended...)
			if len(result.entries) == 0 && len(result.ended) > 0 {
				continue
			}
			found = result
			break
		}
		if !isConnectionLost(err) || pgconn.SafeToRetry(err) {
			return queue.Lease{}, err
		}
		lost++
		// Whether it was committed is unknown: give it back, uncounted, and claim anew.
		if undo := s.giveBackDetached(ctx, c.AttemptID); undo != nil || lost == claimTries || ctx.Err() != nil {
			return queue.Lease{}, err
		}
		c.AttemptID = seqlease.NewAttemptID()
	}
	return queue.Lease{
		AttemptID: c.AttemptID, Until: found.now.Add(c.Lease), Lease: c.Lease, Entries: found.entries, Ended: len(ended), EndedOf: ended,
		Paused: found.paused, Mark: found.mark,
	}, nil
}

// giveBackDetached undoes a claim also when ctx is cancelled.
func (s *Store) giveBackDetached(ctx context.Context, id seqlease.AttemptID) error {
	tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	_, err := s.GiveBack(tidy, queue.GiveBack{AttemptID: id, Undelivered: true})
	return err
}

// claimed is what a claim found.
type claimed struct {
	*scanned

	entries []queue.ClaimedEntry
}

// scan makes the claim in all rounds, and brings what is remembered up to date.
func (s *Store) scan(ctx context.Context, m *memory, organismID int32, c queue.Claim, at look) (*claimed, error) {
	probeFrom := pgtype.Timestamptz{Time: at.probeFrom, Valid: true}
	if at.probeFrom.IsZero() {
		probeFrom.InfinityModifier = pgtype.NegativeInfinity
	}
	payload := int64(queue.PayloadBytes)
	if c.Entries > queue.PayloadLimit {
		payload = 0
	}
	found, err := s.take(ctx, m, claimStatement, c, 1, &at, func() pgx.StrictNamedArgs {
		arguments := pgx.StrictNamedArgs{
			"organism": organismID, "version": int64(c.PipelineVersion), "payload": payload,
			"attempt": uuid(c.AttemptID), "seconds": int64(c.Lease / time.Second), "claimed_by": c.ClaimedBy, "worker_id": c.WorkerID,
			"probe_from": probeFrom, "max_attempts": s.limits.Attempts, "max_hand_outs": s.limits.HandOuts,
		}
		maps.Copy(arguments, at.arguments(c.Entries))
		return arguments
	})
	if err != nil {
		return nil, err
	}
	m.note(at, c.Entries, found)
	return &claimed{found, found.shares[0]}, nil
}

// take runs one of the claim's statements for c and others of its queue, each of which
// gets a share. The look begins
// where other claims have come while this one waited for a connection: thousands of
// tickets further, where many wait, and beside an old snapshot each of them would
// have to be passed.
func (s *Store) take(ctx context.Context, m *memory, st statement, c queue.Claim, shares int, at *look, arguments func() pgx.StrictNamedArgs) (*scanned, error) {
	var found *scanned
	err := s.retry(ctx, func() error {
		found = &scanned{}
		return s.with(ctx, func(conn *pgxpool.Conn) error {
			m.catchUp(at)
			began := time.Now() //nolint:forbidigo // paces looks at the queue; says nothing about leases
			err := st.run(ctx, conn, claimSettingsSQL, arguments(), func(rows pgx.Rows) error {
				return found.read(rows, c, shares, *at)
			})
			found.took = time.Since(began)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	m.noteEnd(*at, found)
	return found, nil
}

// peeked is what can be said of a queue without looking for work.
type peeked struct {
	mark   string
	now    time.Time // by the database's clock
	paused bool
}

// glance is a claim that wants to know what can be said of its queue without looking
// for work.
type glance struct {
	queue.Claim

	seen peeked
	err  error
}

// peek reads the mark and the database's clock, after c came. The idle workers of a
// queue ask for them all the time, and one statement answers all who wait for it.
func (s *Store) peek(ctx context.Context, organismID int32, c queue.Claim) (peeked, error) {
	g := &glance{Claim: c, err: errLeftBehind}
	if err := s.glances.do(ctx, memoryKey{organismID, c.PipelineVersion}, g); err != nil {
		return peeked{}, err
	}
	return g.seen, g.err
}

// peekTogether answers all glances at one queue.
func (s *Store) peekTogether(ctx context.Context, key memoryKey, together []*glance) {
	seen, err := s.readQueue(ctx, key, together[0].Organism)
	for _, g := range together {
		g.seen, g.err = seen, err
	}
}

func (s *Store) readQueue(ctx context.Context, key memoryKey, organism seqlease.Organism) (peeked, error) {
	var current seqlease.PipelineVersion
	var registered bool
	var p peeked
	var mark *string
	err := s.retry(ctx, func() error {
		return s.with(ctx, func(conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, peekQueueSQL, pgx.StrictNamedArgs{"organism": key.organism, "version": int64(key.version)}).
				Scan(&current, &registered, &p.paused, &p.now, &mark)
		})
	})
	if err != nil {
		return peeked{}, err
	}
	if err := queue.CheckLive(organism, key.version, current, registered); err != nil {
		return peeked{}, err
	}
	p.mark, p.now = *mark, p.now.UTC()
	return p, nil
}

func uuid(id seqlease.AttemptID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }
