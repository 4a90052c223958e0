package worker

import (
	"context"
	"errors"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// How often and for how long in all giving back is tried. What isn't given back
// by then waits for the lease end.
const (
	returnTries   = 5
	returnTimeout = 10 * time.Second
)

// giveBack returns entries, also when the worker was told to stop (L8).
func (r *run) giveBack(ctx context.Context, h *holding, entries []seqlease.Entry, reason string, counts bool) {
	if len(entries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTimeout)
	defer cancel()
	request := client.LeaseReturn{AttemptID: h.attempt, Reason: reason, CountsAsAttempt: counts}
	for _, e := range entries {
		request.Entries = append(request.Entries, e.AccessionVersion)
	}
	failures := backoff{max: r.MaxBackoff}
	for try := 1; ; try++ {
		_, err := r.lifeline.ReturnLease(ctx, r.Organism, request)
		switch {
		case err == nil:
			r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entries), Error: reason}, GivenBack)
			return
		case errors.Is(err, seqlease.ErrLeaseLost): // it is over already
			r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entries), Error: err.Error()}, Dropped)
			return
		case try == returnTries || isFinal(err) || ctx.Err() != nil:
			r.Logger.WarnContext(ctx, "entries not given back, they wait for the lease end",
				"attempt_id", h.attempt, "rows", len(entries), "error", err)
			r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entries), Error: err.Error()}, Dropped)
			return
		}
		d, _ := failures.failed()
		pause(ctx, d)
	}
}
