package worker

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// batch processes what was claimed, sends the results and gives back the rest,
// while another goroutine keeps the lease.
func (r *run) batch(ctx context.Context, claimed client.Claimed) {
	h := newHolding(claimed.Entries, claimed.Began, r.Lease)
	r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(h.entries)}, Claimed)

	var background errgroup.Group
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx)) // until the results are sent
	if !r.NoRenewal {
		background.Go(func() error { r.keepLease(keeping, h); return nil })
	}
	working, stopWorking := context.WithCancel(ctx)
	processed := make(chan struct{})
	background.Go(func() error {
		defer close(processed)
		r.process(working, h)
		return nil
	})
	select {
	case <-processed:
	case <-ctx.Done():
	case <-h.gone:
	}
	stopWorking()
	results, open := h.close()
	if _, lost := h.lost(); lost != nil {
		r.drop(ctx, h, append(entriesOf(h, results), open...), lost)
	} else {
		r.giveBack(ctx, h, open, "the worker was told to stop", false)
		r.deliver(ctx, h, results)
	}
	stopKeeping()
	_ = background.Wait() // neither has an error
}

// process makes the results of the entries.
func (r *run) process(ctx context.Context, h *holding) {
	var group errgroup.Group
	group.SetLimit(r.Parallel)
	for i, entry := range h.entries {
		group.Go(func() error {
			entryCtx, done, wanted := h.begin(ctx, i)
			if !wanted {
				return nil
			}
			defer done()
			about := Event{AttemptID: entry.AttemptID, Entries: eventEntries(h.entries[i : i+1])}
			r.tell(about, EntryStarted)
			result := r.processOne(entryCtx, entry)
			if entryCtx.Err() != nil { // the result may be half of one
				return nil
			}
			result.AccessionVersion, result.AttemptID = entry.AccessionVersion, entry.AttemptID
			if h.finish(i, result) {
				about.Errors, about.Warnings = messages(result.Errors), messages(result.Warnings)
				r.tell(about, EntryDone)
			}
			return nil
		})
	}
	_ = group.Wait() // none of them has an error
}

// processOne calls Process and turns a panic into a result with an error, so
// that one entry can't take the worker down.
func (r *run) processOne(ctx context.Context, entry seqlease.Entry) (result seqlease.Result) {
	defer func() {
		if p := recover(); p != nil {
			r.Logger.ErrorContext(ctx, "pipeline panicked",
				"accession_version", entry.String(), "error", p, "stack", string(debug.Stack()))
			result = seqlease.Result{Errors: []seqlease.Annotation{{
				Message: fmt.Sprintf("The pipeline failed on this entry (internal error: %v). Please report it to the operator of the pipeline.", p),
			}}}
		}
	}()
	return r.Process(ctx, entry)
}

// drop gives entries up: nobody wants their results from this worker any more.
func (r *run) drop(ctx context.Context, h *holding, entries []seqlease.Entry, cause error) {
	r.Logger.WarnContext(ctx, "batch dropped", "attempt_id", h.attempt, "rows", len(entries), "error", cause)
	r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entries), Error: cause.Error()}, Dropped)
}

// entriesOf returns the entries of the results.
func entriesOf(h *holding, results []seqlease.Result) []seqlease.Entry {
	wanted := make(map[seqlease.AccessionVersion]bool, len(results))
	for _, result := range results {
		wanted[result.AccessionVersion] = true
	}
	var entries []seqlease.Entry
	for _, e := range h.entries {
		if wanted[e.AccessionVersion] {
			entries = append(entries, e)
		}
	}
	return entries
}

func (r *run) tell(about Event, kind EventKind) {
	about.Kind = kind
	r.observe(about)
}
