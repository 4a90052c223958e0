package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seqlease/seqlease"
)

// holding is a claimed batch while this worker has it: its lease, as far as it is
// known here, and the results so far. Only the server decides whether the lease
// still runs; what is counted here says when to ask it and when to give up.
type holding struct {
	attempt seqlease.AttemptID
	entries []seqlease.Entry // in claim order
	gone    chan struct{}    // closed when the lease is lost

	asking sync.Mutex // held by whoever renews the lease

	mu     sync.Mutex
	lease  time.Duration
	since  time.Time // the lease runs from then or later
	lostAt time.Time // zero while the lease isn't lost
	cause  error     // why it is lost
	closed bool      // no more results are taken
	places []place   // as entries
}

// place is what becomes of one entry.
type place struct {
	cancel context.CancelFunc // of its processing; nil unless it is processed right now
	lost   bool
	result *seqlease.Result
}

// newHolding returns a batch whose lease began about when its answer did. It runs
// for as long as its lines say, or else as asked.
func newHolding(entries []seqlease.Entry, began time.Time, asked time.Duration) *holding {
	h := &holding{
		attempt: entries[0].AttemptID, entries: entries, gone: make(chan struct{}),
		lease: asked, since: began, places: make([]place, len(entries)),
	}
	if s := entries[0].LeaseSeconds; s > 0 {
		h.lease = time.Duration(s) * time.Second
	}
	return h
}

// begin says whether the entry is to be processed, and in which context. done
// must be called when it is.
func (h *holding) begin(ctx context.Context, i int) (entryCtx context.Context, done func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.places[i].lost || ctx.Err() != nil {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	h.places[i].cancel = cancel
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.places[i].cancel = nil
		cancel()
	}, true
}

// finish keeps the result of an entry, unless nobody wants it any more.
func (h *holding) finish(i int, result seqlease.Result) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.places[i].lost {
		return false
	}
	h.places[i].result = &result
	return true
}

// close takes no more results and returns those that are there, and the entries
// without one, in claim order, both without what is lost.
func (h *holding) close() (results []seqlease.Result, open []seqlease.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for i, p := range h.places {
		switch {
		case p.lost:
		case p.result != nil:
			results = append(results, *p.result)
		default:
			open = append(open, h.entries[i])
		}
	}
	return results, open
}

// renewed notes that the lease runs for the given time from when the server was
// asked, and what was taken from it. It returns what wasn't known to be lost.
func (h *holding) renewed(asked time.Time, lease time.Duration, lost []seqlease.AccessionVersion) []seqlease.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = asked
	if lease > 0 {
		h.lease = lease
	}
	var news []seqlease.Entry
	for i, e := range h.entries {
		if h.places[i].lost || !slices.Contains(lost, e.AccessionVersion) {
			continue
		}
		h.places[i].lost, h.places[i].result = true, nil
		if h.places[i].cancel != nil {
			h.places[i].cancel()
		}
		news = append(news, e)
	}
	return news
}

// lose notes that the whole lease is lost. Only the first cause counts.
func (h *holding) lose(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		h.lostAt, h.cause = time.Now(), cause
		close(h.gone)
	}
}

// lost says since when and why the lease is lost; the cause is nil if it isn't.
func (h *holding) lost() (since time.Time, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lostAt, h.cause
}

// held returns the results without those of entries that were taken away.
func (h *holding) held(results []seqlease.Result) []seqlease.Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	away := map[seqlease.AccessionVersion]bool{}
	for i, p := range h.places {
		if p.lost {
			away[h.entries[i].AccessionVersion] = true
		}
	}
	if len(away) == 0 {
		return results
	}
	return slices.DeleteFunc(slices.Clone(results), func(r seqlease.Result) bool { return away[r.AccessionVersion] })
}

// duration returns how long the lease runs from its last renewal.
func (h *holding) duration() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// untilRenewal returns how long to wait before the next renewal: a third of the
// lease from the last one, a little less at random, so that workers that began
// together don't ask together.
func (h *holding) untilRenewal() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	third := h.lease / 3
	return third - jitter(third/5) - time.Since(h.since)
}

// end returns when the lease is used up, by the monotonic clock.
func (h *holding) end() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.since.Add(h.lease)
}

// stale says that so much time has passed since the last renewal that somebody
// must have stopped this process, or put the machine to sleep, during which the
// monotonic clock may stand still: then the server is asked before anything else.
func (h *holding) stale() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	byWall := time.Now().Round(0).Sub(h.since.Round(0))
	return max(time.Since(h.since), byWall) > h.lease/2
}
