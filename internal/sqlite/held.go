package sqlite

import (
	"context"
	"sync"
)

// held are names that uploads under way hold: what isn't published yet can't be
// locked by the database, whose only server this process is. The zero value holds
// nothing.
type held[K comparable] struct {
	mu      sync.Mutex
	holders map[K]chan struct{} // closed when its holder gives up all that it holds
}

// take waits until nobody holds any of the names, holds them all, and returns what
// gives them up. Whoever waits holds nothing.
func (h *held[K]) take(ctx context.Context, names ...K) (release func(), err error) {
	for {
		taken, other := h.try(names)
		if other == nil {
			return func() { h.giveUp(names, taken) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try holds the names, or returns when to try again.
func (h *held[K]) try(names []K) (taken, other chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		if other := h.holders[name]; other != nil {
			return nil, other
		}
	}
	if h.holders == nil {
		h.holders = make(map[K]chan struct{}, len(names))
	}
	taken = make(chan struct{})
	for _, name := range names {
		h.holders[name] = taken
	}
	return taken, nil
}

func (h *held[K]) giveUp(names []K, taken chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		delete(h.holders, name)
	}
	if len(h.holders) == 0 {
		h.holders = nil // a map keeps the room of a large upload
	}
	close(taken)
}
