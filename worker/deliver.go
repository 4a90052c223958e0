package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// lastSend is how long sending the results of a batch may take after the worker
// was told to stop.
const lastSend = 10 * time.Second

// repeatAtLeast is for how long undelivered results are sent again even if the
// lease is over: if they arrived and only the answer was lost, it comes now (L6).
const repeatAtLeast = 30 * time.Second

// deliver sends results, again and again while the server is away and the lease
// may still run (B043), until each of them is stored, refused or dropped.
func (r *run) deliver(ctx context.Context, h *holding, results []seqlease.Result) {
	tried := false // some answer was lost: the results may be stored
	broken := 0    // how often the server couldn't cope with them
	for {
		if !r.NoRenewal && h.stale() {
			_ = r.renew(context.WithoutCancel(ctx), h) // without an answer, the submission finds out
		}
		results = h.held(results)
		_, lost := h.lost()
		switch {
		case len(results) == 0:
			return
		case lost != nil && !tried:
			r.drop(ctx, h, entriesOf(h, results), lost)
			return
		}
		err := r.send(ctx, results)
		if err == nil {
			r.backoff.succeeded()
			r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entriesOf(h, results))}, Submitted)
			return
		}
		if problem := (*client.ProblemError)(nil); errors.As(err, &problem) && problem.Internal() {
			broken++
		}
		if r.settled(ctx, h, results, err, broken >= mostBroken) || r.givenUp(ctx, h, results, err) {
			return
		}
		tried = true
		r.waitOut(ctx, err)
	}
}

// mostBroken is after how many internal errors of the server a submission is
// divided, to find the result that it can't cope with: some minutes, so that an
// outage passes first.
const mostBroken = 12

// send finishes what it began even if the worker is told to stop meanwhile.
func (r *run) send(ctx context.Context, results []seqlease.Result) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastSend, cancel) })
	defer stop()
	return r.Client.SubmitGoodResults(sending, r.Organism, r.PipelineVersion, slices.Values(results))
}

// settled acts on an answer that is about the results themselves. A submission
// that is too large or that the server can't cope with is sent in halves; a single
// result like that is given back with the reason.
func (r *run) settled(ctx context.Context, h *holding, results []seqlease.Result, err error, hopeless bool) bool {
	var partly *client.PartlyRefusedError
	hopeless = hopeless || errors.Is(err, seqlease.ErrTooLarge)
	switch {
	case errors.As(err, &partly):
		r.backoff.succeeded()
		r.settle(ctx, h, results, partly)
	case hopeless && len(results) > 1:
		half := len(results) / 2
		r.deliver(ctx, h, results[:half])
		r.deliver(ctx, h, results[half:])
	case hopeless:
		r.Logger.WarnContext(ctx, "result refused", "accession_version", results[0].String(), "error", err)
		r.giveBack(ctx, h, entriesOf(h, results), err.Error(), true)
	default:
		return false
	}
	return true
}

// givenUp gives up results that can't be delivered. What the lease may still hold
// is given back.
func (r *run) givenUp(ctx context.Context, h *holding, results []seqlease.Result, err error) bool {
	final := isFinal(err) || errors.Is(err, seqlease.ErrPipelineOutdated)
	if !final && ctx.Err() == nil && !r.isOver(h) {
		return false
	}
	r.Logger.ErrorContext(ctx, "results not delivered", "attempt_id", h.attempt, "rows", len(results), "error", err)
	entries := entriesOf(h, results)
	if _, lost := h.lost(); lost != nil {
		r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entries), Error: err.Error()}, Dropped)
	} else {
		r.giveBack(ctx, h, entries, "the results could not be delivered: "+err.Error(), false)
	}
	r.waitOut(ctx, err) // a server that refuses everything isn't asked in a tight loop
	return true
}

// isOver says that sending again is of no use: the lease was lost so long ago
// that the answer of an earlier submission doesn't come any more.
func (r *run) isOver(h *holding) bool {
	since, cause := h.lost()
	if cause == nil {
		if !r.NoRenewal {
			return false
		}
		since = h.end()
	}
	return time.Since(since) >= repeatAtLeast
}

// settle acts on results of which some were refused: each is told (B068), and
// entries whose results can't ever be stored are given back with that reason, as
// attempts, so that it is what people read when they are used up (B017).
func (r *run) settle(ctx context.Context, h *holding, results []seqlease.Result, partly *client.PartlyRefusedError) {
	refused := make(map[seqlease.AccessionVersion]bool, len(partly.Refused))
	var faulty faults
	var dropped []seqlease.Refusal
	for _, refusal := range partly.Refused {
		if refusal.Line < 1 || refusal.Line > len(results) {
			continue // no line of ours
		}
		result := results[refusal.Line-1]
		refused[result.AccessionVersion] = true
		if !isResultsFault(refusal.Reason) {
			dropped = append(dropped, refusal)
			continue
		}
		r.Logger.WarnContext(ctx, "result refused", "attempt_id", h.attempt,
			"accession_version", result.String(), "error", string(refusal.Reason)+": "+refusal.Detail)
		faulty.add(refusal.Detail, result)
	}
	if len(dropped) > 0 {
		r.Logger.WarnContext(ctx, "results refused and dropped", "attempt_id", h.attempt, "rows", len(dropped),
			"error", string(dropped[0].Reason)+": "+dropped[0].Detail)
	}
	stored, others := split(results, refused)
	if len(stored) > 0 {
		r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entriesOf(h, stored))}, Submitted)
	}
	r.tell(Event{AttemptID: h.attempt, Entries: eventEntries(entriesOf(h, others)), Refused: partly.Refused, Error: partly.Error()}, Refused)
	for _, fault := range faulty {
		r.giveBack(ctx, h, entriesOf(h, fault.results), fault.reason, true)
	}
}

// mostReasons is how many calls give the faulty results of a submission back.
const mostReasons = 4

// manyReasons stands for the reasons beyond that, which the server knows of each
// refusal anyhow.
const manyReasons = "the result was refused"

// faults are results that were refused, by the reason.
type faults []fault

type fault struct {
	reason  string
	results []seqlease.Result
}

func (f *faults) add(reason string, result seqlease.Result) {
	i := slices.IndexFunc(*f, func(known fault) bool { return known.reason == reason })
	switch {
	case i >= 0:
	case len(*f) < mostReasons:
		if i = len(*f); i == mostReasons-1 {
			reason = manyReasons
		}
		*f = append(*f, fault{reason: reason})
	default:
		i = mostReasons - 1
	}
	(*f)[i].results = append((*f)[i].results, result)
}

// isResultsFault says whether a refusal is about the result itself, so that
// another worker with the same program would get it, too.
func isResultsFault(reason seqlease.RefusalReason) bool {
	switch reason {
	case seqlease.RefusedInvalid, seqlease.RefusedDuplicate, seqlease.RefusedWrongOrganism:
		return true
	case seqlease.RefusedLeaseLost, seqlease.RefusedNotFound, seqlease.RefusedEdited, seqlease.RefusedDifferentResults:
		return false
	default: // of a newer server
		return false
	}
}

// split returns the results outside and inside of a set.
func split(results []seqlease.Result, set map[seqlease.AccessionVersion]bool) (outside, inside []seqlease.Result) {
	for _, result := range results {
		if set[result.AccessionVersion] {
			inside = append(inside, result)
		} else {
			outside = append(outside, result)
		}
	}
	return outside, inside
}
