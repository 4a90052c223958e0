package backfill

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/submission"
)

const (
	// pace is the pause between two submissions, edits or claims of the same kind.
	pace = 15 * time.Millisecond
	// uploadEntries is how many entries a submission has.
	uploadEntries = 5
)

// longest keeps how long something took at most, and how often it was done.
type longest struct {
	mu    sync.Mutex
	took  time.Duration
	count int
}

// time does it and notes how long that took.
func (l *longest) time(do func() error) error {
	began := time.Now()
	err := do()
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = max(l.took, took)
	l.count++
	return err
}

// traffic is what submitters do all the time, through a server of their own.
type traffic struct {
	store          *postgres.Store
	packed         seqlease.Packed
	entries        int // edited are those of which the number is 3 modulo 5, as they are processed and not released
	submits, edits longest
}

// run submits and edits until ctx ends.
func (tr *traffic) run(ctx context.Context) error {
	var work errgroup.Group
	work.Go(func() error {
		return every(ctx, func(i int) error { //nolint:contextcheck // what is begun is finished
			return tr.submits.time(func() error { return tr.submit(int64(1 + i%groups)) })
		})
	})
	work.Go(func() error {
		return every(ctx, func(i int) error { //nolint:contextcheck // what is begun is finished
			return tr.edits.time(func() error { return tr.edit(i) })
		})
	})
	return work.Wait()
}

// every does it again and again until ctx ends; what is begun is finished.
func every(ctx context.Context, do func(i int) error) error {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := do(i); err != nil {
			return err
		}
	}
}

func (tr *traffic) submit(group int64) error {
	_, err := tr.store.Submit(context.Background(), submission.Upload{
		Organism: bench, GroupID: group, Submitter: "anna", AccessionPrefix: "NEW_", Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen},
		Entries: func(yield func(submission.PackedEntry, error) bool) {
			for i := range uploadEntries {
				if !yield(submission.PackedEntry{SubmissionID: fmt.Sprintf("new-%d", i), Data: tr.packed}, nil) {
					return
				}
			}
		},
	})
	return err
}

// edit edits an entry all over the database: the places of those before and behind
// the backfill are found in this order.
func (tr *traffic) edit(i int) error {
	const step = 104_729 // a prime
	n := i * step % (tr.entries / 10)
	av := seqlease.AccessionVersion{Accession: seqlease.Accession(fmt.Sprintf("LOC_%09d", n*10+3)), Version: 1}
	return tr.store.Edit(context.Background(), submission.Edit{Organism: bench, AccessionVersion: av, Data: document()})
}
