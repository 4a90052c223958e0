package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
)

// MaxPage is the largest page of a list for operators.
const MaxPage = 1000

// What the lists of failures show.
const (
	historyLimit      = 200       // of the newest claims, failures and other events of an entry, each
	failingSince      = time.Hour // by the database's clock
	maxFailingWorkers = 100
)

// Leases lists at most limit leases that hold something, those that have ended
// included, by start and attempt id behind the place of after (nil: from the
// first). limit is 1 to [MaxPage].
func (q *Queue) Leases(ctx context.Context, o seqlease.Organism, after *HeldLease, limit int) ([]HeldLease, error) {
	if err := q.checkList(o, limit); err != nil {
		return nil, err
	}
	leases, err := q.store.Leases(ctx, o, after, limit)
	if err != nil {
		return nil, fmt.Errorf("leases of %s: %w", o, err)
	}
	return leases, nil
}

// Quarantined lists at most limit quarantined entries behind the one with the
// store id after (0: from the first). limit is 1 to [MaxPage].
func (q *Queue) Quarantined(ctx context.Context, o seqlease.Organism, after int64, limit int) ([]Quarantined, error) {
	if err := q.checkList(o, limit); err != nil {
		return nil, err
	}
	entries, err := q.store.Quarantined(ctx, o, after, limit)
	if err != nil {
		return nil, fmt.Errorf("quarantine of %s: %w", o, err)
	}
	return entries, nil
}

func (q *Queue) checkList(o seqlease.Organism, limit int) error {
	if limit < 1 || limit > MaxPage {
		return pageOutOfRange(limit)
	}
	_, err := q.organisms.Get(o)
	return err
}

func pageOutOfRange(limit int) error {
	return seqlease.InvalidParameter("limit", fmt.Sprintf("limit must be from 1 to %d, not %d", MaxPage, limit))
}

// Paused says what is paused of the organism.
func (q *Queue) Paused(ctx context.Context, o seqlease.Organism) (PauseState, error) {
	if _, err := q.organisms.Get(o); err != nil {
		return PauseState{}, err
	}
	state, err := q.store.Paused(ctx, o)
	if err != nil {
		return PauseState{}, fmt.Errorf("what is paused of %s: %w", o, err)
	}
	return state, nil
}

// History returns what became of an entry, the newest of each, by time. The error is
// [seqlease.ErrNotFound] if the organism has no such entry.
func (q *Queue) History(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion) (History, error) {
	if _, err := q.organisms.Get(o); err != nil {
		return History{}, err
	}
	history, err := q.store.History(ctx, o, av, historyLimit)
	if err != nil {
		return History{}, fmt.Errorf("history of %s: %w", av, err)
	}
	return history, nil
}

// FailingWorkers sums up the failures of the last hour by worker and user, most
// failures first.
func (q *Queue) FailingWorkers(ctx context.Context, o seqlease.Organism) ([]FailingWorker, error) {
	if _, err := q.organisms.Get(o); err != nil {
		return nil, err
	}
	workers, err := q.store.FailingWorkers(ctx, o, failingSince, maxFailingWorkers)
	if err != nil {
		return nil, fmt.Errorf("failing workers of %s: %w", o, err)
	}
	return workers, nil
}
