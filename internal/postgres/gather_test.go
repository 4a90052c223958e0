package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// parcel is a request of n that goes with others up to ten together.
type parcel struct {
	n, company int
	answered   bool
}

func fitsParcels(together []*parcel, next *parcel) bool {
	n := next.n
	for _, p := range together {
		n += p.n
	}
	return n <= 10
}

// Requests that come while as many statements run as may go together, in their
// order, as far as they fit; one that finds a free turn goes at once.
func TestGathering_L2_WhoComesMeanwhileGoesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sizes [][]int
		proceed := make(chan struct{})
		g := newGathering(1, fitsParcels, func(_ context.Context, _ string, together []*parcel) {
			var of []int
			for _, p := range together {
				of = append(of, p.n)
				p.answered = true
			}
			sizes = append(sizes, of) // only one runs at once
			<-proceed
		})
		var calls sync.WaitGroup
		var parcels []*parcel
		for _, n := range []int{3, 4, 5, 1, 20, 2, 2} {
			p := &parcel{n: n}
			parcels = append(parcels, p)
			calls.Go(func() {
				if err := g.do(t.Context(), "queue", p); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // until it runs or waits
		}
		close(proceed)
		calls.Wait()
		if got, want := fmt.Sprint(sizes), "[[3] [4 5 1] [20] [2 2]]"; got != want {
			t.Errorf("went together: %s, want %s", got, want)
		}
		for _, p := range parcels {
			if !p.answered {
				t.Errorf("the request of %d was never answered", p.n)
			}
		}
		if len(g.queues) != 0 {
			t.Errorf("%d queues are remembered, want none", len(g.queues))
		}
	})
}

// Keys don't wait for each other, and no key has more statements than the limit.
func TestGathering_L2_LimitHoldsForEachKey(t *testing.T) {
	t.Parallel()
	var running [3]atomic.Int32
	var requests, most atomic.Int32
	g := newGathering(2, fitsParcels, func(_ context.Context, key int, together []*parcel) {
		if now := running[key].Add(1); now > 2 {
			t.Errorf("%d statements of a key run at once, want at most 2", now)
		}
		requests.Add(int32(len(together)))
		for _, p := range together {
			p.company, p.answered = len(together), true
			if len(together) > int(most.Load()) {
				most.Store(int32(len(together)))
			}
		}
		running[key].Add(-1)
	})
	var calls errgroup.Group
	for i := range 64 {
		calls.Go(func() error {
			for range 200 {
				p := &parcel{n: 1 + rand.N(4)}
				if err := g.do(t.Context(), i%3, p); err != nil || !p.answered {
					return fmt.Errorf("answered: %v, error: %w", p.answered, err)
				}
			}
			return nil
		})
	}
	if err := calls.Wait(); err != nil {
		t.Fatal(err)
	}
	if requests.Load() != 64*200 || len(g.queues) != 0 {
		t.Errorf("%d requests ran and %d keys are remembered, want %d and none", requests.Load(), len(g.queues), 64*200)
	}
	t.Logf("at most %d went together", most.Load())
}

// Who leaves before the statement begins is not part of it; who leaves later waits for
// it, and it goes on for the others, until all have left.
func TestGathering_L15_LeavingStopsAStatementOnlyIfAllLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var together [][]*parcel
		var ended []error
		proceed := make(chan struct{})
		g := newGathering(1, fitsParcels, func(ctx context.Context, _ string, some []*parcel) {
			together = append(together, slices.Clone(some))
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			ended = append(ended, ctx.Err())
		})
		type call struct {
			leave  context.CancelFunc
			parcel *parcel
			err    error
			back   bool
		}
		begin := func() *call {
			ctx, leave := context.WithCancel(t.Context())
			c := &call{leave: leave, parcel: &parcel{n: 1}}
			go func() {
				c.err = g.do(ctx, "queue", c.parcel)
				c.back = true
			}()
			synctest.Wait()
			return c
		}
		first, early, second, third := begin(), begin(), begin(), begin()
		early.leave()
		synctest.Wait()
		if !early.back || !errors.Is(early.err, context.Canceled) {
			t.Errorf("who left while waiting got %v, want %v at once", early.err, context.Canceled)
		}
		proceed <- struct{}{}
		synctest.Wait()
		if len(together) != 2 || !slices.Equal(together[1], []*parcel{second.parcel, third.parcel}) {
			t.Fatalf("went together: %v, want the first alone and then two", together)
		}
		second.leave()
		synctest.Wait()
		if second.back || third.back {
			t.Error("the statement ended though one still wants its answer")
		}
		third.leave()
		synctest.Wait()
		if !first.back || !second.back || !third.back || len(ended) != 2 || ended[0] != nil || !errors.Is(ended[1], context.Canceled) {
			t.Errorf("statements ended with %v, want the second cancelled when all had left", ended)
		}
		if len(g.queues) != 0 {
			t.Error("a queue is remembered though nobody waits")
		}
	})
}

// A leader that panics takes nobody down with it but itself.
func TestGathering_L15_LeaderThatPanicsLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		g := newGathering(1, fitsParcels, func(_ context.Context, _ string, together []*parcel) {
			if len(together) == 2 {
				panic("broken")
			}
			<-proceed
			together[0].answered = true
		})
		var panicked, unanswered int
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				p := &parcel{n: 1}
				defer func() {
					if recover() != nil {
						panicked++
					} else if !p.answered {
						unanswered++
					}
				}()
				_ = g.do(t.Context(), "queue", p)
			})
			synctest.Wait()
		}
		close(proceed)
		calls.Wait()
		if panicked != 1 || unanswered != 1 || len(g.queues) != 0 {
			t.Errorf("%d panicked and %d went unanswered, %d queues remembered, want 1, 1 and none", panicked, unanswered, len(g.queues))
		}
	})
}

// A statement ends at the first deadline of those who go together, and says so; and
// nobody waits for a turn for longer than for a connection.
func TestGathering_L15_WaitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := map[int]error{}
		proceed := make(chan struct{})
		g := newGathering(1, fitsParcels, func(ctx context.Context, _ string, together []*parcel) {
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			ended[len(together)] = ctx.Err()
		})
		var calls sync.WaitGroup
		begin := func(deadline time.Duration, want error) {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				err := g.do(ctx, "queue", &parcel{n: 1})
				if !errors.Is(err, want) || errors.Is(want, context.DeadlineExceeded) && !pgconn.SafeToRetry(err) {
					t.Errorf("got %v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		begin(time.Hour, nil)
		begin(time.Second, context.DeadlineExceeded)
		begin(time.Hour, seqlease.ErrBusy)
		<-time.After(acquireTimeout + time.Second) // of the bubble's clock
		begin(time.Hour, nil)
		begin(time.Minute, nil)
		began := time.Now()
		proceed <- struct{}{}
		calls.Wait()
		if !errors.Is(ended[2], context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("the statement of two ended after %s with %v, want at the first deadline", time.Since(began), ended[2])
		}
	})
}

func TestStatementsAtOnce(t *testing.T) {
	t.Parallel()
	for connections, want := range map[int32]int{1: 1, 2: 1, 7: 1, 8: 2, 16: 2, 24: 3, 64: 8} {
		if got := statementsAtOnce(connections); got != want {
			t.Errorf("%d statements at once with a pool of %d, want %d", got, connections, want)
		}
	}
}
