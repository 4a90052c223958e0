package queue

import (
	"context"
	"log/slog"

	"github.com/seqlease/seqlease/internal/organism"
)

// Queue is what the door calls to claim work, accept results, renew and give
// back leases, and what operators call. It may be used concurrently.
type Queue struct {
	store     Store
	organisms *organism.Catalog
	logger    *slog.Logger
	waiting   *waitingRoom
	failing   *failingWorkers
	versions  Versions // nil: newer ones don't register themselves
}

// Option changes what a queue is made with.
type Option func(*Queue)

// WithLogger sets where the queue says what operators did. The default says nothing.
func WithLogger(logger *slog.Logger) Option { return func(q *Queue) { q.logger = logger } }

// WithBell lets the bell of the store wake waiting claims at once, not only at the
// next look at the change counters.
func WithBell(bell *Bell) Option { return func(q *Queue) { bell.Answer(q.waiting.ring) } }

// New returns the queue of the given store and organisms. Claims that wait are
// woken while [Queue.Run] runs.
func New(store Store, organisms *organism.Catalog, options ...Option) *Queue {
	q := &Queue{
		store: store, organisms: organisms, logger: slog.New(slog.DiscardHandler),
		waiting: newWaitingRoom(), failing: newFailingWorkers(),
	}
	for _, option := range options {
		option(q)
	}
	return q
}

// Run wakes waiting claims until ctx ends; then those that wait are answered
// empty at once, and no claim waits any more, so that a server can stop. Call it
// once. Other servers of the same store run their own.
func (q *Queue) Run(ctx context.Context) error {
	return q.waiting.run(ctx, q.store, q.logger)
}
