package postgres

import (
	"context"
	_ "embed"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/claim_fresh.sql
var claimFreshSQL string

var claimFreshStatement = numbered("claim_fresh", claimFreshSQL)

// claimsTogether is how many claims go together at most. Their entries are no more
// than [queue.PayloadLimit].
const claimsTogether = 100

// payloadTogether bounds the documents of claims that go together, as they are all
// in memory at the end of the statement. What is beyond a claim's part is read later.
const payloadTogether = 4 * queue.PayloadBytes

// freshClaim is a claim of fresh entries that may go with others of its queue.
type freshClaim struct {
	queue.Claim

	memory *memory
	at     look
	found  *claimed
	apart  bool // it is to go alone
	err    error
}

// claimFresh takes fresh entries and bulk work.
func (s *Store) claimFresh(ctx context.Context, m *memory, organismID int32, c queue.Claim, at look) (*claimed, error) {
	f := &freshClaim{Claim: c, memory: m, at: at, err: errLeftBehind}
	if err := s.freshClaims.do(ctx, memoryKey{organismID, c.PipelineVersion}, f); err != nil {
		return nil, err
	}
	if f.apart {
		s.claimFreshTogether(ctx, memoryKey{organismID, c.PipelineVersion}, []*freshClaim{f})
	}
	return f.found, f.err
}

// fitsClaims says whether a claim may go with others.
func fitsClaims(together []*freshClaim, next *freshClaim) bool {
	entries := next.Entries
	for _, f := range together {
		entries += f.Entries
	}
	return len(together) < claimsTogether && entries <= queue.PayloadLimit
}

// claimFreshTogether makes claims of one queue in one statement, each under its own
// attempt. What the first remembered of where to look is brought up to date for all.
// If the server refuses the statement, what one of them says may be why: then each
// goes alone, on its own goroutine.
func (s *Store) claimFreshTogether(ctx context.Context, key memoryKey, together []*freshClaim) {
	found, err := s.takeFresh(ctx, key, together)
	if isRefused(err) && len(together) > 1 {
		for _, f := range together {
			f.apart = true
		}
		return
	}
	for i, f := range together {
		if f.err = err; err == nil {
			f.found = &claimed{found, found.shares[i]}
		}
	}
}

func (s *Store) takeFresh(ctx context.Context, key memoryKey, together []*freshClaim) (*scanned, error) {
	at, m := together[0].at, together[0].memory
	var (
		n         int
		starts    []int64
		seconds   []int64
		attempts  []pgtype.UUID
		claimedBy []string
		workerIDs []string
	)
	for _, f := range together {
		starts, n = append(starts, int64(n+1)), n+f.Entries
		attempts, seconds = append(attempts, uuid(f.AttemptID)), append(seconds, int64(f.Lease/time.Second))
		claimedBy, workerIDs = append(claimedBy, f.ClaimedBy), append(workerIDs, f.WorkerID)
	}
	found, err := s.take(ctx, m, claimFreshStatement, together[0].Claim, len(together), &at, func() pgx.StrictNamedArgs {
		arguments := pgx.StrictNamedArgs{
			"organism": key.organism, "version": int64(key.version), "n": n, "starts": starts,
			"payload":  int64(min(queue.PayloadBytes, payloadTogether/len(together))),
			"attempts": attempts, "seconds": seconds, "claimed_by": claimedBy, "worker_ids": workerIDs,
		}
		maps.Copy(arguments, at.freshArguments())
		return arguments
	})
	if err == nil && found.count() > 0 { // else nothing is known of suspects and leases
		m.note(at, n, found)
	}
	return found, err
}
