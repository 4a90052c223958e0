package queue

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

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
