package queue

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// GiveBackRequest returns a lease, or entries of it.
type GiveBackRequest struct {
	Organism  seqlease.Organism
	AttemptID seqlease.AttemptID
	ClaimedBy string                      // user of the token
	Entries   []seqlease.AccessionVersion // at most [MaxEntries]; nil: all that the lease holds
	Reason    string                      // any text: it is cleaned ([CleanReason])
	// CountsAsAttempt keeps the attempt that the claim counted. Otherwise the entries'
	// attempts are as before the claim.
	CountsAsAttempt bool
}

// GiveBack makes what the worker holds wait again at once (L8) and returns how many
// entries that were. The error is [seqlease.ErrLeaseLost] if the attempt holds
// nothing, or it is another user's. Others: [*seqlease.InvalidError] naming the
// member, [seqlease.ErrUnknownOrganism].
func (q *Queue) GiveBack(ctx context.Context, r GiveBackRequest) (int, error) {
	if len(r.Entries) > MaxEntries {
		return 0, tooManyEntries(len(r.Entries))
	}
	if _, err := q.organisms.Get(r.Organism); err != nil {
		return 0, err
	}
	n, err := q.store.GiveBack(ctx, GiveBack{
		AttemptID: r.AttemptID, Organism: r.Organism, ClaimedBy: r.ClaimedBy,
		Entries: r.Entries, Reason: CleanReason(r.Reason), CountsAsAttempt: r.CountsAsAttempt,
	})
	if err != nil {
		return 0, fmt.Errorf("give back attempt %s: %w", r.AttemptID, err)
	}
	if n > 0 && r.CountsAsAttempt {
		q.failing.judged(r.ClaimedBy, []seqlease.AttemptID{r.AttemptID}, nil)
	}
	return n, nil
}

func tooManyEntries(n int) error {
	return seqlease.InvalidParameter("accessionVersions",
		fmt.Sprintf("accessionVersions may list at most %d entries, not %d: send the rest in another request", MaxEntries, n))
}

// GiveBackUndelivered returns a claim whose answer didn't reach the worker: its
// entries wait again at once and the claim costs no attempt (L8). It works also
// when ctx is cancelled already, as it is when a client has left.
func (q *Queue) GiveBackUndelivered(ctx context.Context, id seqlease.AttemptID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	if _, err := q.store.GiveBack(ctx, GiveBack{AttemptID: id, Undelivered: true}); err != nil {
		return fmt.Errorf("give back undelivered claim %s: %w", id, err)
	}
	return nil
}

// damagedReason is what the submitter reads in the end of an entry that can't be handed out.
const damagedReason = "what is stored of the entry can't be read"

// Damaged gives back entries of a claim that [Queue.Entries] left out because their
// documents can't be read. It counts as an attempt, so that they reach quarantine
// while their neighbours are worked on (L9). It works also when ctx is cancelled
// already.
func (q *Queue) Damaged(ctx context.Context, id seqlease.AttemptID, o seqlease.Organism, entries []seqlease.AccessionVersion) error {
	if len(entries) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	if _, err := q.store.GiveBack(ctx, GiveBack{
		AttemptID: id, Organism: o, Entries: entries, Reason: damagedReason, CountsAsAttempt: true, Damaged: true,
	}); err != nil {
		return fmt.Errorf("give back damaged entries of claim %s: %w", id, err)
	}
	return nil
}
