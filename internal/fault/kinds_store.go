//go:build linux

package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/seqlease/seqlease/internal/fault/evidence"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// takeDatabase returns PostgreSQL if no other fault has it. Give it back with
// busy.Unlock.
func (f *Fleet) takeDatabase() (*postgresStore, error) {
	p, ok := f.store.(*postgresStore)
	if !ok || !p.busy.TryLock() {
		return nil, errBusy
	}
	return p, nil
}

func (f *Fleet) killDatabase(ctx context.Context, random *rand.Rand) error {
	return f.outage(ctx, random, DatabaseKilled, (*pgcluster.Cluster).Kill9)
}

func (f *Fleet) crashDatabase(ctx context.Context, random *rand.Rand) error {
	return f.outage(ctx, random, DatabaseCrashed, (*pgcluster.Cluster).Crash)
}

func (f *Fleet) restartDatabase(ctx context.Context, random *rand.Rand) error {
	return f.outage(ctx, random, DatabaseRestarted, (*pgcluster.Cluster).ShutDown)
}

func (f *Fleet) outage(ctx context.Context, random *rand.Rand, kind Kind, end func(*pgcluster.Cluster) (pgcluster.Outage, error)) error {
	p, err := f.takeDatabase()
	if err != nil {
		return err
	}
	defer p.busy.Unlock()
	f.tell("%s", kind)
	from := evidence.Uptime()
	defer func() { f.lasted(Spell{Kind: kind, Span: evidence.Span{From: from, Until: evidence.Uptime()}}) }()
	outage, err := end(p.cluster)
	if err != nil {
		return err
	}
	pause(ctx, between(random, 0, 2*time.Second))
	return outage.End(context.WithoutCancel(ctx))
}

// putClockAhead restarts the database some hours later: every lease has ended.
// The other direction would make leases long, and is for an operator to free.
func (f *Fleet) putClockAhead(ctx context.Context, random *rand.Rand) error {
	p, err := f.takeDatabase()
	if err != nil {
		return err
	}
	defer p.busy.Unlock()
	outage, err := p.cluster.ShutDown()
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.jumps = append(f.jumps, evidence.Uptime())
	f.mu.Unlock()
	p.clock += between(random, time.Hour, 12*time.Hour)
	if p.clock == 0 {
		p.clock = time.Second // with a clock of 0 it couldn't be put ahead again
	}
	f.tell("database restarted with its clock wrong by %s", p.clock.Round(time.Minute))
	return outage.EndWithClock(context.WithoutCancel(ctx), p.clock)
}

func (f *Fleet) freezeDatabase(ctx context.Context, random *rand.Rand) error {
	p, err := f.takeDatabase()
	if err != nil {
		return err
	}
	defer p.busy.Unlock()
	d := between(random, time.Second, 6*time.Second)
	f.tell("database frozen for %s", d.Round(100*time.Millisecond))
	err = p.cluster.Freeze()
	pause(ctx, d)
	return errors.Join(err, p.cluster.Thaw())
}

// cutSessions ends every session but our own, as a pooler or an operator may.
func (f *Fleet) cutSessions(ctx context.Context, _ *rand.Rand) error {
	p, err := f.takeDatabase()
	if err != nil {
		return err
	}
	defer p.busy.Unlock()
	f.tell("database sessions cut")
	c, err := p.connect(ctx)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	return errors.Join(err, c.Close(ctx))
}

// leakTransaction leaves a session idle in a transaction that has read the
// queue's tables and holds a waiting entry's ticket.
func (f *Fleet) leakTransaction(ctx context.Context, random *rand.Rand) error {
	p, ok := f.store.(*postgresStore)
	if !ok {
		return errBusy
	}
	c, err := p.connect(ctx)
	if err != nil {
		return errBusy // the database is in another fault's hands
	}
	for _, statement := range []string{
		`BEGIN ISOLATION LEVEL REPEATABLE READ`,
		`SELECT (SELECT count(*) FROM ticket) + (SELECT count(*) FROM lease) + (SELECT count(*) FROM result) + (SELECT count(*) FROM entry)`,
		`SELECT entry_id FROM ticket LIMIT 1 FOR UPDATE SKIP LOCKED`,
	} {
		if _, err := c.Exec(ctx, statement); err != nil {
			_ = c.Close(ctx) // the session is broken, by another fault or a ticket that changed
			return errBusy
		}
	}
	d := between(random, 6*time.Second, 12*time.Second)
	f.tell("idle transaction leaked for %s", d.Round(100*time.Millisecond))
	from := evidence.Uptime()
	pause(ctx, d)
	f.lasted(Spell{Kind: IdleTransaction, Span: evidence.Span{From: from, Until: evidence.Uptime()}})
	_ = c.Close(context.WithoutCancel(ctx)) // another fault may have cut it
	return nil
}

// fillDisk leaves the embedded store no room for a while (B037).
func (f *Fleet) fillDisk(ctx context.Context, random *rand.Rand) error {
	s, ok := f.store.(*sqliteStore)
	if !ok || !s.busy.TryLock() {
		return errBusy
	}
	defer s.busy.Unlock()
	d := between(random, 2*time.Second, 6*time.Second)
	f.tell("disk full for %s", d.Round(100*time.Millisecond))
	free, err := s.fill()
	if err != nil {
		return err
	}
	pause(ctx, d)
	return free()
}
