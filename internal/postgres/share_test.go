package postgres_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// crowd counts who is in a transaction and holds everybody there.
type crowd struct {
	open   chan struct{} // closed: everybody may go on
	inside atomic.Int64
	most   atomic.Int64
}

func (c *crowd) enter() (leave func()) {
	n := c.inside.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	<-c.open
	return func() { c.inside.Add(-1) }
}

// TestShares_L13_LongTransactionsLeaveConnections has more exports, lists and
// uploads than connections, none of which ends: claims, results, give backs and
// approvals go on beside them, and afterwards every long one is served.
func TestShares_L13_LongTransactionsLeaveConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ connections, share int64 }{{8, 2}, {4, 1}} {
		s := newHarness("", postgres.Options{MaxConnections: int(c.connections)}).open(t)
		group := register(t, s).GroupID
		open := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(open) })
		defer letGo() // also when a check fails
		exports, lists, uploads := &crowd{open: open}, &crowd{open: open}, &crowd{open: open}
		submitN(t, s, group, 10)
		ctx := t.Context()
		var long errgroup.Group
		for range 20 {
			long.Go(func() error {
				return s.ReadReleased(ctx, storetest.WestNile,
					func(submission.ReleasedHead) error { defer exports.enter()(); return nil },
					func(submission.ReleasedEntry) error { return nil })
			})
			long.Go(func() error {
				_, err := s.List(ctx, submission.ListFilter{Organism: storetest.WestNile, Limit: 1},
					func(submission.ListedEntry) error { defer lists.enter()(); return nil })
				return err
			})
		}
		for range 8 {
			long.Go(func() error {
				u := smallUpload(s, group, 3)
				entries := u.Entries
				u.Entries = func(yield func(submission.PackedEntry, error) bool) {
					defer uploads.enter()()
					entries(yield)
				}
				_, err := s.Submit(ctx, u)
				return err
			})
		}
		kinds := map[string]*crowd{"exports": exports, "lists": lists, "uploads": uploads}
		for _, k := range kinds {
			waitFor(t, func() bool { return k.inside.Load() == c.share })
		}
		for range 10 {
			shortLife(t, s)
		}
		letGo()
		if err := long.Wait(); err != nil {
			t.Error(err)
		}
		for name, k := range kinds {
			if got := k.most.Load(); got != c.share {
				t.Errorf("of %d connections, %d %s had one at once, want %d", c.connections, got, name, c.share)
			}
		}
	}
}

// shortLife claims an entry twice, has it processed and approves what is.
func shortLife(t *testing.T, s *postgres.Store) {
	t.Helper()
	for _, giveBack := range []bool{true, false} {
		lease, err := s.Claim(t.Context(), askFor(1))
		if err != nil || len(lease.Entries) != 1 {
			t.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
		}
		if giveBack {
			_, err = s.GiveBack(t.Context(), returned(lease))
		} else {
			_, err = s.AcceptResults(t.Context(), packedAnswer(s, lease))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Approve(t.Context(), submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll}); err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for !condition() {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
}
