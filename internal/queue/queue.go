package queue

import (
	"github.com/seqlease/seqlease/internal/organism"
)

// Queue is what the door calls to claim work, accept results and give work
// back. It may be used concurrently.
type Queue struct {
	store     Store
	organisms *organism.Catalog
}

// New returns the queue of the given store and organisms.
func New(store Store, organisms *organism.Catalog) *Queue {
	return &Queue{store: store, organisms: organisms}
}
