package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// claimState is the queue of a pipeline version at one instant.
type claimState struct {
	organismID int64
	paused     bool
	mark       string
	waiting    bool // there are tickets that may be claimed
	runs       bool // there are tickets that aren't written out yet
	ended      bool // there are leases past their end
	now        int64
}

// Claim moves up to c.Entries waiting entries under c.AttemptID (L2): fresh ones
// and bulk work, or suspects among themselves (L9). Entries of leases that have
// ended become tickets first (L4). A claim that finds nothing writes nothing and
// waits for no writer. A claim doesn't wait for the disk: one that a power cut undoes
// is only claimed again.
func (s *Store) Claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	for range claimTries {
		lease, taken, err := s.claim(ctx, c)
		if err != nil {
			return queue.Lease{}, fmt.Errorf("claim %s v%d: %w", c.Organism, c.PipelineVersion, err)
		}
		if taken == 0 || len(lease.Entries) > 0 {
			return lease, nil
		}
		// The lease is over or empty already. That says nothing about what waits.
		c.AttemptID = seqlease.NewAttemptID()
	}
	return queue.Lease{}, fmt.Errorf("claim %s v%d: %w: what was claimed was lost %d times before it could be read",
		c.Organism, c.PipelineVersion, seqlease.ErrBusy, claimTries)
}

// claimTries is how often a claim is made whose lease is lost before it is read:
// it ended, or all its entries were deleted.
const claimTries = 3

// claim claims once. It returns how many entries the lease got; one of which
// nothing can be read any more is given back.
func (s *Store) claim(ctx context.Context, c queue.Claim) (queue.Lease, int, error) {
	lease := queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease}
	if c.Entries <= 0 || !s.knownToWait(c) {
		state, err := readClaimState(ctx, s.readOnce(), c)
		if err != nil {
			return lease, 0, storeError(err)
		}
		lease.Mark, lease.Paused = state.mark, state.paused
		if c.Entries <= 0 || state.paused || !state.waiting && !state.runs && !state.ended {
			return lease, 0, nil
		}
	}
	taken, err := s.moveToLease(ctx, c, s.lanesInTurn(c), &lease)
	if err == nil && taken > 0 {
		// What is read here is the attempt's alone; whether the client is still there
		// decides nothing any more.
		lease.Entries, err = s.readLease(context.WithoutCancel(ctx), c.AttemptID, taken)
	}
	if taken > 0 && (err != nil || len(lease.Entries) == 0) {
		_, giveBackErr := s.GiveBack(context.WithoutCancel(ctx), queue.GiveBack{AttemptID: c.AttemptID, Undelivered: true})
		err = errors.Join(err, giveBackErr)
	}
	return lease, taken, err
}

func readClaimState(ctx context.Context, t *tx, c queue.Claim) (claimState, error) {
	var state claimState
	var current seqlease.PipelineVersion
	var registered bool
	err := t.row(ctx, "claim_state", named("organism", string(c.Organism), "pipeline_version", int64(c.PipelineVersion)),
		&state.organismID, &current, &registered, &state.paused, &state.mark, &state.waiting, &state.runs, &state.ended, &state.now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return state, queue.UnknownOrganism(c.Organism)
	case err != nil:
		return state, err
	default:
		return state, queue.CheckLive(c.Organism, c.PipelineVersion, current, registered)
	}
}

// moveToLease makes the lease and returns how many entries it has. Entries beyond
// the first slice join it one slice after the other: until the claim is answered
// nobody knows the attempt. If the claim fails midway, what joined is given back.
func (s *Store) moveToLease(ctx context.Context, c queue.Claim, choice []lanes, lease *queue.Lease) (int, error) {
	taken, left := 0, false
	defer func() { s.noteLeft(c, left) }()
	for more := true; more; {
		var slice claimSlice
		err := s.ringAfter(ctx, s.writeLosing, func(ctx context.Context, t *tx, a *added) (err error) {
			slice, err = s.moveSlice(ctx, t, a, c, choice, taken)
			return err
		})
		if err != nil {
			return taken, err
		}
		if taken == 0 {
			lease.Mark, lease.Paused, lease.Until = slice.mark, slice.paused, slice.until
		}
		taken += slice.entries
		lease.Ended += len(slice.ended)
		lease.EndedOf = append(lease.EndedOf, slice.ended...)
		if slice.entries > 0 {
			choice = []lanes{slice.of}
		}
		more, left = slice.more, slice.left && slice.entries > 0
	}
	return taken, nil
}

// claimArgs are the arguments of the statements of a claim.
type claimArgs struct {
	c       queue.Claim
	state   claimState
	taken   int // how many entries the lease has by now
	entries int // how many it may get in this transaction
	of      lanes
}

// named returns the arguments of these names.
func (a claimArgs) named(names ...string) []any {
	all := map[string]any{
		"attempt_id": a.c.AttemptID[:], "organism_id": a.state.organismID, "pipeline_version": int64(a.c.PipelineVersion),
		"now": a.state.now, "taken": int64(a.taken), "entries": int64(a.entries), "lease_seconds": int64(a.c.Lease / time.Second),
		"claimed_by": a.c.ClaimedBy, "worker_id": a.c.WorkerID, "first_lane": int64(a.of.first), "last_lane": int64(a.of.last),
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = sql.Named(name, all[name])
	}
	return args
}
