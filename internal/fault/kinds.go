//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Kind is a fault that is brought about by hand; those of the network are the
// proxy's.
type Kind string

// The kinds of faults.
const (
	// A worker dies on a poisoned entry, which nobody brings about by hand.
	WorkerPoisoned Kind = "worker died on poison"

	WorkerKilled Kind = "worker killed"
	WorkerFrozen Kind = "worker frozen past its lease"
	// AllFrozen lets nobody claim what the stopped workers hold: only the lease end
	// makes their results late.
	AllFrozen Kind = "every worker frozen past its lease"
	// A worker that doesn't renew finds out only when it sends its results.
	UnawareFrozen      Kind = "worker without renewal frozen past its lease"
	WorkerPaused       Kind = "worker frozen shortly"
	ServerKilled       Kind = "server killed"
	ServerRestarted    Kind = "server restarted"
	ServerFrozen       Kind = "server frozen"
	ConnectionsReset   Kind = "all connections reset"
	SlowReaders        Kind = "64 slow readers"
	DatabaseKilled     Kind = "database killed"
	DatabaseCrashed    Kind = "database crashed (immediate)"
	DatabaseRestarted  Kind = "database restarted"
	DatabaseFrozen     Kind = "database frozen"
	DatabaseClockAhead Kind = "database clock put ahead"
	SessionsCut        Kind = "database sessions cut"
	IdleTransaction    Kind = "idle transaction leaked"
	DiskFull           Kind = "disk full"

	// What operators do while work goes on (L16).
	LeaseFreed  Kind = "lease freed"
	Quarantined Kind = "entries quarantined and requeued"
	Requeued    Kind = "quarantine requeued"
	Reprocessed Kind = "entries reprocessed"
	QueuePaused Kind = "organism paused"
)

// errBusy says that what a fault needs is in another fault's hands.
var errBusy = errors.New("busy with another fault")

// inflictor brings a fault about and mends it again, which takes its time. The
// error is errBusy if nothing was done.
type inflictor func(*Fleet, context.Context, *rand.Rand) error

// inflictors are the faults of a fleet's kind of store.
func (f *Fleet) inflictors() map[Kind]inflictor {
	kinds := map[Kind]inflictor{
		WorkerKilled: (*Fleet).killWorker, AllFrozen: (*Fleet).freezeAll, WorkerFrozen: (*Fleet).freezeWorker, WorkerPaused: (*Fleet).pauseWorker,
		UnawareFrozen: (*Fleet).freezeUnaware,
		ServerKilled:  (*Fleet).killServer, ServerRestarted: (*Fleet).restartServer, ServerFrozen: (*Fleet).freezeServer,
		ConnectionsReset: (*Fleet).resetConnections, SlowReaders: (*Fleet).readSlowly,
		LeaseFreed: (*Fleet).freeLease, Quarantined: (*Fleet).quarantine, Requeued: (*Fleet).requeue,
		Reprocessed: (*Fleet).reprocess, QueuePaused: (*Fleet).pauseQueue,
	}
	switch s := f.store.(type) {
	case *postgresStore:
		kinds[DatabaseKilled], kinds[DatabaseCrashed] = (*Fleet).killDatabase, (*Fleet).crashDatabase
		kinds[DatabaseRestarted], kinds[DatabaseFrozen] = (*Fleet).restartDatabase, (*Fleet).freezeDatabase
		kinds[SessionsCut], kinds[IdleTransaction] = (*Fleet).cutSessions, (*Fleet).leakTransaction
		if f.options.DatabaseClock != 0 { // it runs with a clock that can be set
			kinds[DatabaseClockAhead] = (*Fleet).putClockAhead
		}
	case *sqliteStore:
		if s.disk != "" {
			kinds[DiskFull] = (*Fleet).fillDisk
		}
	}
	return kinds
}

// inflict brings one fault about, counts it, and waits until it is mended.
func (f *Fleet) inflict(ctx context.Context, kind Kind, random *rand.Rand) error {
	do, known := f.inflictors()[kind]
	if !known {
		return fmt.Errorf("a fleet on %s can't have the fault %q here", f.options.Store, kind)
	}
	err := do(f, ctx, random)
	switch {
	case errors.Is(err, errBusy):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", kind, err)
	}
	f.count(string(kind), 1)
	return nil
}

func (f *Fleet) count(kind string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[kind] += n
}
