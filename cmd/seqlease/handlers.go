package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// handlersTimeout is how long handlers may go on after their connections were cut.
// What they do then has limits of its own, the longest of them 10 s: batches that
// weren't delivered are given back (L8), and refusals are noted.
const handlersTimeout = 15 * time.Second

// handlers counts the requests that are handled: net/http doesn't wait for those
// whose connection it cut, and the store may not be closed under them.
type handlers struct {
	next    http.Handler
	running *semaphore.Weighted
}

func newHandlers(next http.Handler) *handlers {
	return &handlers{next, semaphore.NewWeighted(math.MaxInt64)}
}

func (h *handlers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.running.TryAcquire(1) { // it came in as the last connections were cut
		http.Error(w, "the server stops", http.StatusServiceUnavailable)
		return
	}
	defer h.running.Release(1)
	h.next.ServeHTTP(w, r)
}

// wait returns when all requests have been handled; from then on none is. It waits
// for at most [handlersTimeout].
func (h *handlers) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handlersTimeout)
	defer cancel()
	if err := h.running.Acquire(ctx, math.MaxInt64); err != nil {
		return fmt.Errorf("requests still ran %s after their connections were cut: %w", handlersTimeout, err)
	}
	return nil
}
