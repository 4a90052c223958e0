package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
)

// How long one try to renew may take: a tenth of the lease, so that there is time
// for several before it is used up, and no more than mostRenewal.
const (
	renewalShare = 10
	mostRenewal  = 10 * time.Second
)

// keepLease renews the lease of a batch, whatever the batch is doing, until ctx
// ends or the lease is lost. Tries that fail are repeated for as long as the lease
// may run (B005).
func (r *run) keepLease(ctx context.Context, h *holding) {
	failures := backoff{max: max(h.duration()/12, firstBackoff)}
	next := h.untilRenewal()
	for {
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.gone:
			timer.Stop()
			return
		}
		switch err := r.renew(ctx, h); {
		case err == nil:
			failures.succeeded()
			next = h.untilRenewal()
		case ctx.Err() != nil || errors.Is(err, seqlease.ErrLeaseLost):
			return
		case !time.Now().Before(h.end()):
			h.lose(fmt.Errorf("the lease is used up and could not be renewed: %w", err))
			return
		default:
			var loud bool
			if next, loud = failures.failed(); loud {
				r.Logger.WarnContext(ctx, "renewing the lease goes wrong, trying again", "attempt_id", h.attempt, "error", err)
			}
		}
	}
}

// renew asks once for a later lease end and notes what the server says.
func (r *run) renew(ctx context.Context, h *holding) error {
	h.asking.Lock()
	defer h.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, min(h.duration()/renewalShare, mostRenewal))
	defer cancel()
	asked := time.Now()
	renewed, err := r.lifeline.RenewLease(ctx, r.Organism, h.attempt, 0)
	if errors.Is(err, seqlease.ErrLeaseLost) {
		h.lose(err)
	}
	if err != nil {
		return err
	}
	if lost := h.renewed(asked, renewed.Lease, renewed.Lost); len(lost) > 0 {
		r.Logger.WarnContext(ctx, "entries were taken from the lease, dropped", "attempt_id", h.attempt, "rows", len(lost))
		r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(lost), Error: "edited, deleted or taken away since the claim"}, Dropped)
	}
	r.tell(Event{AttemptID: h.attempt}, Renewed)
	return nil
}
