package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
)

const (
	newVersion = 2
	pipeline   = "pipeline"
	// batch is how many entries a claim asks for.
	batch = 100
	// quietTime is how long the traffic is watched without a backfill.
	quietTime = 4 * time.Second
	// runTimeout bounds a run.
	runTimeout = 10 * time.Minute
	// warmUp is how much traffic goes before what is measured, so that connections
	// and plans are there.
	warmUp = time.Second
	// watchEvery is how often it is asked whether the backfill is complete.
	watchEvery = 10 * time.Millisecond
)

// The figures, in seconds.
const (
	figureFirst  = "first claim"
	figureWhole  = "whole"
	figureSubmit = "longest submit"
	figureEdit   = "longest edit"
	figureClaim  = "longest claim"
)

// site is one server with its queue, and another one for the traffic.
type site struct {
	*database
	store    *postgres.Store
	queue    *queue.Queue
	versions *reprocess.Versions
	traffic  *traffic
	claims   longest
}

// measured fills a database, lets the traffic run while f does, and returns the
// longest waits beside what f returns.
func measured(ctx context.Context, b *measure.Bench, f func(ctx context.Context, s *site) (measure.Sample, error)) (_ measure.Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	address, drop, err := b.Database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	d, err := fill(ctx, b, address, size(b))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	s, end, err := open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	busy, stop := context.WithCancel(ctx)
	defer stop()
	var loops errgroup.Group
	loops.Go(func() error { return s.traffic.run(busy) })
	if err := wait(ctx, warmUp); err != nil {
		return nil, err
	}
	s.traffic.submits.reset()
	s.traffic.edits.reset()
	sample, err := f(ctx, s)
	stop()
	if err = errors.Join(err, loops.Wait()); err != nil {
		return nil, err
	}
	sample[figureSubmit], sample[figureEdit] = s.traffic.submits.took.Seconds(), s.traffic.edits.took.Seconds()
	b.Tell("%d submissions, %d edits, %d claims meanwhile", s.traffic.submits.count, s.traffic.edits.count, s.claims.count)
	return sample, nil
}

// wait waits for d unless ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// reset forgets what was noted.
func (l *longest) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took, l.count = 0, 0
}

// open opens both servers.
func open(ctx context.Context, d *database) (_ *site, end func() error, err error) {
	catalog, err := organisms()
	if err != nil {
		return nil, nil, err
	}
	var stores [2]*postgres.Store
	end = func() error {
		var errs []error
		for _, s := range stores {
			if s != nil {
				errs = append(errs, s.Close())
			}
		}
		return errors.Join(errs...)
	}
	for i := range stores {
		if stores[i], err = postgres.Open(ctx, postgres.Options{Address: d.address}); err == nil {
			err = stores[i].Register(ctx, catalog.All())
		}
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	packed, err := stores[1].Pack(bench, document())
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	versions := reprocess.New(stores[0], reprocess.Options{})
	return &site{
		database: d, store: stores[0], versions: versions, queue: queue.New(stores[0], catalog, queue.WithVersions(versions)),
		traffic: &traffic{store: stores[1], packed: packed, entries: d.entries},
	}, end, nil
}

// claim claims with the new version.
func (s *site) claim(ctx context.Context) (lease queue.Lease, err error) {
	err = s.claims.time(func() (err error) {
		lease, err = s.queue.Claim(ctx, queue.ClaimRequest{Organism: bench, PipelineVersion: newVersion, Entries: batch, ClaimedBy: pipeline, WorkerID: "w"})
		return err
	})
	return lease, err
}

// accept stores results of the lease. An entry that was edited meanwhile is refused.
func (s *site) accept(ctx context.Context, lease queue.Lease) error {
	if len(lease.Entries) == 0 {
		return nil
	}
	r := queue.Submission{Organism: bench, PipelineVersion: newVersion, ClaimedBy: pipeline, Skip: true}
	for i, e := range lease.Entries {
		r.Lines = append(r.Lines, queue.Line{
			AccessionVersion: e.AccessionVersion, Number: i + 1, AttemptID: lease.AttemptID, Result: seqlease.NoIssues, Packed: s.traffic.packed,
		})
	}
	_, err := s.store.AcceptResults(ctx, r)
	return err
}

// work claims and stores the results.
func (s *site) work(ctx context.Context) error {
	lease, err := s.claim(ctx)
	if err != nil {
		return err
	}
	return s.accept(ctx, lease)
}

// backfillWith makes the first claim, and lets so many claimers go on while the
// backfill is under way: one of them at the pace of the traffic, many without a
// pause. Their work takes no time. The server's own loop adds tickets, too.
func backfillWith(ctx context.Context, s *site, claimers int) (measure.Sample, error) {
	began := time.Now()
	lease, err := s.claim(ctx)
	first := time.Since(began)
	if err != nil || len(lease.Entries) == 0 {
		return nil, errors.Join(err, fmt.Errorf("the first claim got %d entries", len(lease.Entries)))
	}
	s.claims.reset()
	busy, stop := context.WithCancel(ctx)
	defer stop()
	var loops errgroup.Group
	loops.Go(func() error { return s.versions.Run(busy) })
	for range claimers {
		loops.Go(func() error {
			if claimers == 1 {
				return every(busy, func(int) error { return s.work(ctx) })
			}
			for busy.Err() == nil {
				if err := s.work(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = s.complete(ctx)
	whole := time.Since(began)
	stop()
	if err = errors.Join(err, loops.Wait(), s.check(ctx)); err != nil {
		return nil, err
	}
	return measure.Sample{figureFirst: first.Seconds(), figureWhole: whole.Seconds(), figureClaim: s.claims.took.Seconds()}, nil
}

// complete returns when the backfill is.
func (s *site) complete(ctx context.Context) error {
	for {
		unfinished, err := s.traffic.store.Unfinished(ctx)
		if err != nil || len(unfinished) == 0 {
			return err
		}
		if err := wait(ctx, watchEvery); err != nil {
			return err
		}
	}
}
