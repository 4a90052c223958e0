package queue_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/internal/queue"
)

// wear uses up every entry: what can be claimed is claimed, and its leases run out.
func (h *house) wear(t *testing.T) {
	t.Helper()
	claim := func() int {
		t.Helper()
		// Without a worker id, as a worker that fails everything is slowed down.
		lease, err := h.Claim(t.Context(), queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: 100, ClaimedBy: "pipeline"})
		if err != nil {
			t.Fatal(err)
		}
		return len(lease.Entries)
	}
	for claim() > 0 {
		for claim() > 0 {
		}
		h.age(t)
	}
}

func TestKeeper_L9_SeveralAtOnceQuarantineOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 3, nil)
		h.wear(t)
		// Nothing is claimable, and all of it waits, keeper or not.
		if got, want := h.states(t), map[string]int{"RECEIVED NO_ISSUES": 3}; !cmp.Equal(got, want) {
			t.Errorf("before: got %v, want %v", got, want)
		}
		var log lockedBuffer
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var keepers errgroup.Group
		for range 3 {
			keeper := queue.NewKeeper(h.store, queue.KeeperOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			keepers.Go(func() error { return keeper.Run(ctx) })
		}
		if err := keepers.Wait(); err != nil {
			t.Error(err)
		}
		if got, want := h.states(t), map[string]int{"PROCESSED HAS_ERRORS": 3}; !cmp.Equal(got, want) {
			t.Errorf("after 5 s: got %v, want %v", got, want)
		}
		if n := strings.Count(log.String(), "entries quarantined"); n != 1 || !strings.Contains(log.String(), "rows=3") {
			t.Errorf("want three rows quarantined once:\n%s", log.String())
		}
		if n := len(h.claim(t, 100).Entries); n != 0 {
			t.Errorf("%d quarantined entries were claimed", n)
		}
	})
}

func TestKeeper_L9_SlowsAWorkerDownWhoseLeasesItFindsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 6, nil)
		const inARow = 5
		for range inARow {
			h.claim(t, 1)
		}
		h.age(t)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		keeper := queue.NewKeeper(h.store, queue.KeeperOptions{Ended: h.LeasesEnded})
		if err := keeper.Run(ctx); err != nil {
			t.Error(err)
		}
		// Nothing has run out that the claim could find.
		if lease := h.claim(t, 1); lease.RetryAfter == 0 || len(lease.Entries) != 0 {
			t.Errorf("the worker got %d entries and is to wait for %s", len(lease.Entries), lease.RetryAfter)
		}
		other, err := h.Claim(t.Context(), queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: 1, ClaimedBy: "pipeline", WorkerID: "w2"})
		if err != nil || len(other.Entries) != 1 {
			t.Errorf("another worker got %d entries and %v, want 1", len(other.Entries), err)
		}
	})
}

// lockedBuffer is a log of several writers.
type lockedBuffer struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// unreachable is a store that can't be reached for a while.
type unreachable struct {
	queue.Store
	until time.Time
}

var errUnreachable = errors.New("no connection")

func (u *unreachable) Spent(ctx context.Context, limit int) ([]queue.SpentTicket, error) {
	if time.Now().Before(u.until) {
		return nil, errUnreachable
	}
	return u.Store.Spent(ctx, limit)
}

func TestKeeper_GoesOnWhenTheStoreIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 1, nil)
		h.wear(t)
		ctx, cancel := context.WithTimeout(t.Context(), 65*time.Second)
		defer cancel()
		keeper := queue.NewKeeper(&unreachable{h.store, time.Now().Add(time.Minute)}, queue.KeeperOptions{})
		if err := keeper.Run(ctx); err != nil {
			t.Error(err)
		}
		if got, want := h.states(t), map[string]int{"PROCESSED HAS_ERRORS": 1}; !cmp.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
