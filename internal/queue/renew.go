package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
)

// RenewRequest asks for a later lease end.
type RenewRequest struct {
	Organism     seqlease.Organism
	AttemptID    seqlease.AttemptID
	LeaseSeconds int    // 0: as claimed
	ClaimedBy    string // user of the token
}

// Renew moves the end of a running lease and says what the attempt holds still and
// what was cut from it (L7). An ended lease is never revived: the error is
// [seqlease.ErrLeaseLost] if nothing is held, or it is another user's. Others:
// [*seqlease.InvalidError] naming the member, [seqlease.ErrUnknownOrganism].
func (q *Queue) Renew(ctx context.Context, r RenewRequest) (Renewed, error) {
	if r.LeaseSeconds != 0 {
		if err := checkLease(r.LeaseSeconds); err != nil {
			return Renewed{}, err
		}
	}
	if _, err := q.organisms.Get(r.Organism); err != nil {
		return Renewed{}, err
	}
	renewed, err := q.store.Renew(ctx, Renew{
		Organism: r.Organism, AttemptID: r.AttemptID, ClaimedBy: r.ClaimedBy, Lease: time.Duration(r.LeaseSeconds) * time.Second,
	})
	if err != nil {
		return Renewed{}, fmt.Errorf("renew attempt %s: %w", r.AttemptID, err)
	}
	return renewed, nil
}

func checkLease(seconds int) error {
	if seconds < MinLeaseSeconds || seconds > MaxLeaseSeconds {
		return seqlease.InvalidParameter("leaseSeconds",
			fmt.Sprintf("leaseSeconds must be from %d to %d, not %d", MinLeaseSeconds, MaxLeaseSeconds, seconds))
	}
	return nil
}
