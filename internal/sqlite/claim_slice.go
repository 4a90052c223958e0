package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// lanes are what a claim is made from, all of it.
type lanes struct{ first, last queue.Lane }

// What claims are made from: suspects are never mixed with others, and those that
// go alone only with themselves (L9).
var (
	healthy  = lanes{queue.LaneFresh, queue.LaneBulk}
	suspects = lanes{queue.LaneSuspect, queue.LaneSuspect}
	alone    = lanes{queue.LaneAlone, queue.LaneAlone}
)

// size is how many of the lanes' entries a claim of n gets at most.
func (l lanes) size(n int) int {
	switch l {
	case suspects:
		return queue.SuspectBatch(n)
	case alone:
		return min(n, 1)
	default:
		return n
	}
}

// suspectsTurn says that each so many claims suspects go first, so that a full
// fresh lane doesn't starve them.
const suspectsTurn = 4

// claimedQueue is the queue that claims name.
type claimedQueue struct {
	organism seqlease.Organism
	version  seqlease.PipelineVersion
}

// claimTurns is what claims of a queue tell the next ones.
type claimTurns struct {
	n    int  // claims that found work, to give suspects their turn (L9)
	left bool // the last of them left work
}

// knownToWait says whether the last claim of the queue left something: then there
// is no need to look whether the writer is worth waiting for.
func (s *Store) knownToWait(c queue.Claim) bool {
	s.turnsMu.Lock()
	defer s.turnsMu.Unlock()
	return s.turns[claimedQueue{c.Organism, c.PipelineVersion}].left
}

// noteLeft notes whether a claim left something. Queues without claims take no room.
func (s *Store) noteLeft(c queue.Claim, left bool) {
	key := claimedQueue{c.Organism, c.PipelineVersion}
	s.turnsMu.Lock()
	defer s.turnsMu.Unlock()
	if turns, known := s.turns[key]; known {
		turns.left = left
		s.turns[key] = turns
	}
}

// lanesInTurn returns the lanes in the order in which the claim looks at them.
// The two of suspects change places, so that neither starves the other.
func (s *Store) lanesInTurn(c queue.Claim) []lanes {
	key := claimedQueue{c.Organism, c.PipelineVersion}
	s.turnsMu.Lock()
	defer s.turnsMu.Unlock()
	turns := s.turns[key]
	turn := turns.n
	turns.n++
	s.turns[key] = turns
	if turn == 0 || turn%suspectsTurn != 0 {
		if turn%2 == 0 {
			return []lanes{healthy, suspects, alone}
		}
		return []lanes{healthy, alone, suspects}
	}
	if turn%(2*suspectsTurn) != 0 {
		return []lanes{suspects, alone, healthy}
	}
	return []lanes{alone, suspects, healthy}
}

// sliceEntries is how many entries a claim moves at most in one transaction, so
// that it doesn't keep other writers waiting for long.
const sliceEntries = 2500

// claimSlice is what one transaction of a claim did.
type claimSlice struct {
	entries int
	first   int64 // the entry id of the first, if they are a run of ids in their first attempt; else 0
	of      lanes // what they are from, if there are any
	more    bool  // the claim may get more
	left    bool  // so may the next claim, for certain unless entries were deleted
	paused  bool
	ended   []queue.EndedLease // leases that are gone since the last of their entries became tickets
	mark    string
	until   time.Time // of the lease, if this is the first slice
}

// moveSlice moves one slice to the lease, which has taken entries by now, from
// the first of the chosen lanes in which something waits.
func (s *Store) moveSlice(ctx context.Context, t *tx, a *added, c queue.Claim, choice []lanes, taken int) (claimSlice, error) {
	state, err := readClaimState(ctx, t, c)
	if err != nil {
		return claimSlice{}, err
	}
	slice := claimSlice{mark: state.mark, paused: state.paused}
	args := claimArgs{c: c, state: state, taken: taken}
	if state.paused {
		return slice, nil
	}
	if taken > 0 {
		var runs bool
		if err := t.row(ctx, "claim_lease_runs", args.named("attempt_id", "now"), &runs); err != nil || !runs {
			return slice, err
		}
	}
	returned := 0 // entries of ended leases that may be claimed
	if state.ended {
		swept, err := sweep(ctx, t, s.retry, state.now, args.named("organism_id", "pipeline_version"), int64(max(c.Entries, 1)))
		if err != nil {
			return slice, err
		}
		slice.ended, slice.more = swept.leases, swept.full
		for _, n := range swept.queues {
			returned += n
		}
	}
	for _, of := range choice {
		args.of, args.entries = of, min(of.size(c.Entries)-taken, sliceEntries)
		step, err := takeFrom(ctx, t, args)
		if err != nil {
			return slice, err
		}
		slice.more = slice.more || step.more
		slice.left = step.left
		if slice.entries, slice.first = step.entries, step.first; slice.entries > 0 {
			slice.of = of
			slice.more = taken+slice.entries < of.size(c.Entries) && (slice.more || slice.entries == args.entries)
			break
		}
	}
	if err := s.finishSlice(ctx, t, args, &slice); err != nil {
		return slice, err
	}
	if returned > slice.entries || returned > 0 && slice.of == healthy { // others may want what stays
		return slice, a.to(ctx, t, state.organismID, int64(c.PipelineVersion))
	}
	return slice, nil
}

// finishSlice makes the lease, if the slice is its first, and notes what joined it.
func (s *Store) finishSlice(ctx context.Context, t *tx, args claimArgs, slice *claimSlice) error {
	if slice.entries == 0 {
		return nil
	}
	if args.taken == 0 {
		var until int64
		err := t.row(ctx, "claim_insert_lease", args.named("attempt_id", "organism_id", "pipeline_version", "now",
			"lease_seconds", "claimed_by", "worker_id"), &until)
		if err != nil {
			return err
		}
		slice.until = instant(until)
	}
	if slice.first == 0 {
		_, err := t.exec(ctx, "claim_note", args.named("attempt_id", "taken")...)
		return err
	}
	ids := make([]int64, slice.entries)
	for i := range ids {
		ids[i] = slice.first + int64(i)
	}
	_, err := t.exec(ctx, "claim_note_run", append(args.named("attempt_id"), named("entries", int64(len(ids)),
		"first_entry_id", slice.first, "entry_ids", jsonIDs(ids), "attempts", jsonIDs(slices.Repeat([]int64{1}, len(ids))))...)...)
	return err
}

// took is what was taken in one step.
type took struct {
	entries int
	first   int64 // as in [claimSlice]
	more    bool  // further tickets are still to be written out
	left    bool  // as in [claimSlice]
}

// takeFrom takes the first waiting entries of the lanes.
func takeFrom(ctx context.Context, t *tx, args claimArgs) (took, error) {
	var step took
	if args.of == healthy && args.state.runs {
		var next fairOrder
		var err error
		step, next, err = takeFromRuns(ctx, t, args)
		step.left = len(next.runs) > 0
		if err != nil || step.entries == args.entries {
			return step, err
		}
		args.taken, args.entries = args.taken+step.entries, args.entries-step.entries
		if step.more, err = writeOutTickets(ctx, t, args, next); err != nil {
			return step, err
		}
	}
	n, err := t.exec(ctx, "claim_take_tickets", args.named("attempt_id", "organism_id", "pipeline_version", "taken", "entries",
		"first_lane", "last_lane")...)
	if err != nil || n == 0 {
		return step, err
	}
	_, err = t.exec(ctx, "claim_cut_tickets", args.named("attempt_id", "pipeline_version", "taken")...)
	return took{entries: step.entries + int(n), more: step.more, left: step.left}, err
}
