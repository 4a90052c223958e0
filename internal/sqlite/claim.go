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
	lease, err := s.claim(ctx, c)
	if err != nil {
		return queue.Lease{}, fmt.Errorf("claim %s v%d: %w", c.Organism, c.PipelineVersion, err)
	}
	return lease, nil
}

func (s *Store) claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	lease := queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease}
	state, err := readClaimState(ctx, s.readOnce(), c)
	if err != nil {
		return lease, storeError(err)
	}
	lease.Mark = state.mark
	if c.Entries <= 0 || !state.waiting && !state.ended {
		return lease, nil
	}
	var entries int64
	err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		lease, entries, err = moveToLease(ctx, t, c)
		return err
	})
	if err != nil || entries == 0 {
		return lease, err
	}
	// What is read here is the attempt's alone; whether the client is still there
	// decides nothing any more.
	ctx = context.WithoutCancel(ctx)
	if lease.Entries, err = s.readLease(ctx, c.AttemptID, entries); err != nil {
		_, giveBackErr := s.GiveBack(ctx, queue.GiveBack{AttemptID: c.AttemptID})
		return lease, errors.Join(err, giveBackErr)
	}
	return lease, nil
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

// moveToLease makes the lease and returns how many entries it has.
func moveToLease(ctx context.Context, t *tx, c queue.Claim) (queue.Lease, int64, error) {
	lease := queue.Lease{AttemptID: c.AttemptID, Lease: c.Lease}
	state, err := readClaimState(ctx, t, c)
	if err != nil {
		return lease, 0, err
	}
	lease.Mark = state.mark
	args := claimArgs{c: c, state: state}
	var taken int64
	if state.ended {
		if taken, lease.Ended, err = takeEnded(ctx, t, args); err != nil {
			return lease, 0, err
		}
	}
	if taken < int64(c.Entries) && state.waiting {
		if taken, err = takeTickets(ctx, t, args, taken); err != nil {
			return lease, 0, err
		}
	}
	if taken == 0 { // others were faster
		return lease, 0, nil
	}
	var until int64
	err = t.row(ctx, "claim_insert_lease", args.of("attempt_id", "organism_id", "pipeline_version", "now",
		"lease_seconds", "claimed_by", "worker_id"), &until)
	lease.Until = instant(until)
	return lease, taken, err
}

// takeEnded moves whole ended leases over. What they held beyond the claim gets
// tickets. It returns the entries that the claim keeps and the leases that ended.
func takeEnded(ctx context.Context, t *tx, args claimArgs) (taken int64, ended int, err error) {
	moved, err := t.exec(ctx, "claim_take_ended", args.of("attempt_id", "organism_id", "pipeline_version", "now", "entries")...)
	if err != nil {
		return 0, 0, err
	}
	leases, err := t.exec(ctx, "claim_drop_ended", args.of("organism_id", "pipeline_version", "now")...)
	if err != nil {
		return 0, 0, err
	}
	if moved > int64(args.c.Entries) {
		surplus := args.of("organism_id", "attempt_id", "entries")
		if moved, err = putBackSurplus(ctx, t, moved, surplus, args); err != nil {
			return 0, 0, err
		}
	}
	_, err = t.exec(ctx, "claim_number", args.of("attempt_id")...)
	return moved, int(leases), err
}

func putBackSurplus(ctx context.Context, t *tx, moved int64, surplus []any, args claimArgs) (int64, error) {
	put, err := t.exec(ctx, "claim_put_back_surplus", surplus...)
	if err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, "claim_cut_surplus", args.of("organism_id", "attempt_id")...); err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, "bump", named("organism_id", args.state.organismID, "scope", int64(args.c.PipelineVersion))...)
	return moved - put, err
}

// takeTickets fills the claim, which has so many entries by now, with the first
// waiting entries, and returns how many it has then.
func takeTickets(ctx context.Context, t *tx, args claimArgs, taken int64) (int64, error) {
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
	common := args.of("attempt_id", "organism_id", "pipeline_version")
	for _, run := range runs {
		if taken == int64(args.c.Entries) {
			break
		}
		n, err := t.exec(ctx, "claim_take_tickets", append(named("taken", taken, "entries", int64(args.c.Entries)-taken,
			"after_id", run[0], "before_id", run[1]), common...)...)
		if err != nil {
			return 0, err
		}
		taken += n
	}
	_, err = t.exec(ctx, "claim_cut_tickets", common...)
	return taken, err
}

// claimArgs are the arguments of the statements of a claim.
type claimArgs struct {
	c     queue.Claim
	state claimState
}

// of returns the arguments of these names.
func (a claimArgs) of(names ...string) []any {
	all := map[string]any{
		"attempt_id": a.c.AttemptID[:], "organism_id": a.state.organismID, "pipeline_version": int64(a.c.PipelineVersion),
		"now": a.state.now, "entries": int64(a.c.Entries), "lease_seconds": int64(a.c.Lease / time.Second),
		"claimed_by": a.c.ClaimedBy, "worker_id": a.c.WorkerID,
	}
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = sql.Named(name, all[name])
	}
	return args
}
