package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// looked counts the claims that reach the store, and tells when waiting claims
// were looked after.
type looked struct {
	*postgres.Store
	claims atomic.Int64
	looks  chan struct{}
}

func (l *looked) Claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	l.claims.Add(1)
	return l.Store.Claim(ctx, c)
}

func (l *looked) Stirred(ctx context.Context, awaited []queue.Awaited) ([]bool, error) {
	stirred, err := l.Store.Stirred(ctx, awaited)
	l.looks <- struct{}{}
	return stirred, err
}

// TestStirred_L14_TicketsThatARollbackLetsGoAreFound locks all tickets while claims
// wait. Meanwhile each look wakes no more than one of them.
func TestStirred_L14_TicketsThatARollbackLetsGoAreFound(t *testing.T) {
	t.Parallel()
	const waiters, lookedAt = 4, 3
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, waiters)
	g.exec(t, "BEGIN")
	g.exec(t, "SELECT FROM ticket FOR UPDATE")
	catalog, err := organism.NewCatalog(storetest.Organisms()...)
	if err != nil {
		t.Fatal(err)
	}
	store := &looked{Store: g.Store, looks: make(chan struct{}, 100)}
	work := queue.New(store, catalog)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running, waiting errgroup.Group
	running.Go(func() error { return work.Run(ctx) })
	began := time.Now()
	claims := make(chan int, waiters)
	for range waiters {
		waiting.Go(func() error {
			lease, err := work.Claim(t.Context(), queue.ClaimRequest{
				Organism: storetest.WestNile, PipelineVersion: 1, Entries: 1, ClaimedBy: "pipeline", Wait: queue.MaxWait,
			})
			claims <- len(lease.Entries)
			return err
		})
	}
	for range lookedAt {
		<-store.looks
	}
	if n := store.claims.Load(); n > waiters+lookedAt {
		t.Errorf("%d claims were made for %d that wait and %d looks", n, waiters, lookedAt)
	}
	g.exec(t, "ROLLBACK")
	if err := waiting.Wait(); err != nil {
		t.Fatal(err)
	}
	for range waiters {
		if n := <-claims; n != 1 {
			t.Errorf("a claim that waited got %d entries, want 1", n)
		}
	}
	// At the end of their time they would find them, too.
	if took := time.Since(began); took > queue.MaxWait-5*time.Second {
		t.Errorf("they were woken after %s", took)
	}
	cancel()
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
}

// TestStirred_L14_WhatIsNeverClaimedDoesNotStir: spent tickets wait for quarantine,
// and those of a paused version for the operator.
func TestStirred_L14_WhatIsNeverClaimedDoesNotStir(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	awaited := func() []queue.Awaited {
		t.Helper()
		c := askFor(0)
		lease, err := g.Claim(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return []queue.Awaited{{Organism: c.Organism, PipelineVersion: c.PipelineVersion, Mark: lease.Mark}}
	}
	want := func(what string, want bool) {
		t.Helper()
		g.Forget()
		got, err := g.Stirred(t.Context(), awaited())
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v and %v, want %t", what, got, err, want)
		}
	}
	want("waiting ones", true)
	if err := g.SetPaused(t.Context(), storetest.WestNile, seqlease.PipelineVersion(1), true, nil); err != nil {
		t.Fatal(err)
	}
	want("those of a paused version", false)
	if err := g.SetPaused(t.Context(), storetest.WestNile, seqlease.PipelineVersion(1), false, nil); err != nil {
		t.Fatal(err)
	}
	g.exec(t, "UPDATE ticket SET lane = 4")
	want("spent ones", false)
}
