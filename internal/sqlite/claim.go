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
	mark       string
	waiting    bool // there are tickets
	ended      bool // there are leases past their end
	now        int64
}

// Claim moves up to c.Entries waiting entries under c.AttemptID (L2). Entries of
// leases that have ended go first, with one attempt more (L4). A claim that
// finds nothing writes nothing and waits for no writer. A claim is as durable as
// a result.
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
	state, err := readClaimState(ctx, s.readOnce(), c)
	if err != nil {
		return lease, 0, storeError(err)
	}
	lease.Mark = state.mark
	if c.Entries <= 0 || !state.waiting && !state.ended {
		return lease, 0, nil
	}
	taken, err := s.moveToLease(ctx, c, &lease)
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

// sliceEntries is how many entries a claim moves at most in one transaction, so
// that it doesn't keep other writers waiting for long.
const sliceEntries = 5000

// moveToLease makes the lease and returns how many entries it has. Entries beyond
// the first slice join it one slice after the other: until the claim is answered
// nobody knows the attempt. If the claim fails midway, what joined is given back.
func (s *Store) moveToLease(ctx context.Context, c queue.Claim, lease *queue.Lease) (int, error) {
	taken := 0
	for taken < c.Entries {
		var slice claimSlice
		err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
			slice, err = moveSlice(ctx, t, c, taken)
			return err
		})
		if err != nil {
			return taken, err
		}
		if taken == 0 {
			lease.Mark, lease.Until = slice.mark, slice.until
		}
		taken += slice.entries
		lease.Ended += slice.ended
		if slice.entries < sliceEntries {
			break
		}
	}
	return taken, nil
}

func readClaimState(ctx context.Context, t *tx, c queue.Claim) (claimState, error) {
	var state claimState
	var current seqlease.PipelineVersion
	var registered bool
	err := t.row(ctx, "claim_state", named("organism", string(c.Organism), "pipeline_version", int64(c.PipelineVersion)),
		&state.organismID, &current, &registered, &state.mark, &state.waiting, &state.ended, &state.now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return state, queue.UnknownOrganism(c.Organism)
	case err != nil:
		return state, err
	default:
		return state, queue.CheckLive(c.Organism, c.PipelineVersion, current, registered)
	}
}

// claimSlice is what one transaction of a claim did.
type claimSlice struct {
	entries int
	ended   int // leases that are gone since the last of their entries was taken over
	mark    string
	until   time.Time // of the lease, if this is the first slice
}

// moveSlice moves one slice to the lease, which has taken entries by now.
func moveSlice(ctx context.Context, t *tx, c queue.Claim, taken int) (claimSlice, error) {
	state, err := readClaimState(ctx, t, c)
	if err != nil {
		return claimSlice{}, err
	}
	slice := claimSlice{mark: state.mark}
	args := claimArgs{c: c, state: state, taken: taken, entries: min(c.Entries-taken, sliceEntries)}
	if taken > 0 {
		var runs bool
		if err := t.row(ctx, "claim_lease_runs", args.of("attempt_id", "now"), &runs); err != nil || !runs {
			return slice, err
		}
	}
	if state.ended {
		moved, err := t.exec(ctx, "claim_take_ended", args.of("attempt_id", "organism_id", "pipeline_version", "now", "taken", "entries")...)
		if err != nil {
			return slice, err
		}
		gone, err := t.exec(ctx, "claim_drop_ended", args.of("organism_id", "pipeline_version", "now", "entries")...)
		if err != nil {
			return slice, err
		}
		slice.entries, slice.ended = int(moved), int(gone)
	}
	if slice.entries < args.entries && state.waiting {
		n, err := takeTickets(ctx, t, args.after(slice.entries))
		if err != nil {
			return slice, err
		}
		slice.entries += n
	}
	if slice.entries == 0 || taken > 0 { // others were faster, or the lease is there
		return slice, nil
	}
	var until int64
	err = t.row(ctx, "claim_insert_lease", args.of("attempt_id", "organism_id", "pipeline_version", "now",
		"lease_seconds", "claimed_by", "worker_id"), &until)
	slice.until = instant(until)
	return slice, err
}

// takeTickets takes the first waiting entries and returns how many they are.
func takeTickets(ctx context.Context, t *tx, args claimArgs) (int, error) {
	var runs [][2]int64 // more than one while uploads are under way
	err := t.rows(ctx, "published_runs", nil, func(scan func(...any) error) error {
		var run [2]int64
		err := scan(&run[0], &run[1])
		runs = append(runs, run)
		return err
	})
	if err != nil {
		return 0, err
	}
	all := 0
	for _, run := range runs {
		left := args.after(all)
		if left.entries == 0 {
			break
		}
		n, err := t.exec(ctx, "claim_take_tickets", append(left.of("attempt_id", "organism_id", "pipeline_version", "taken", "entries"),
			named("after_id", run[0], "before_id", run[1])...)...)
		if err != nil {
			return 0, err
		}
		all += int(n)
	}
	_, err = t.exec(ctx, "claim_cut_tickets", args.of("attempt_id", "organism_id", "pipeline_version", "taken")...)
	return all, err
}

// claimArgs are the arguments of the statements of a claim.
type claimArgs struct {
	c       queue.Claim
	state   claimState
	taken   int // how many entries the lease has by now
	entries int // how many it may get in this transaction
}

// after returns the arguments after n more entries were taken.
func (a claimArgs) after(n int) claimArgs {
	a.taken, a.entries = a.taken+n, a.entries-n
	return a
}

// of returns the arguments of these names.
func (a claimArgs) of(names ...string) []any {
	all := map[string]any{
		"attempt_id": a.c.AttemptID[:], "organism_id": a.state.organismID, "pipeline_version": int64(a.c.PipelineVersion),
		"now": a.state.now, "taken": int64(a.taken), "entries": int64(a.entries), "lease_seconds": int64(a.c.Lease / time.Second),
		"claimed_by": a.c.ClaimedBy, "worker_id": a.c.WorkerID,
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = sql.Named(name, all[name])
	}
	return args
}
