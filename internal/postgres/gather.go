package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqlease/seqlease"
)

// gathering has requests of one kind go to the database together, as beginning,
// planning and committing a statement costs as much for a hundred rows as for a
// thousand. Nobody waits for company: while fewer statements of a key run than the
// limit, a request goes at once. Those that come meanwhile wait, in their order, and
// the statement that begins next takes as many of them as it may.
//
// One of those that go together leads: it runs the statement on its own goroutine,
// and the others wait for it.
type gathering[K comparable, R any] struct {
	limit int // statements of a key at once
	// fits says whether next may go with the others, of which there is at least one.
	fits func(together []R, next R) bool
	// run makes the statement, and leaves what became of each request in it.
	run func(ctx context.Context, key K, together []R)

	mu     sync.Mutex
	queues map[K]*gathered[R] // only those with statements that run
}

// statementsAtOnce is how many statements of a kind and queue run at once. Two make use
// of the time in which a commit waits for the disk; more of them make smaller companies, and
// each entry dearer, unless the database has cores for them, as the size of the pool
// says. Half of a small pool is left for everything else.
func statementsAtOnce(connections int32) int {
	return max(1, min(int(connections)/4, max(2, int(connections)/8)))
}

// errLeftBehind is what a request has become that was never answered: its leader
// panicked.
var errLeftBehind = errors.New("the statement that this was part of broke off")

// neverSentError is of a request that left before its turn came.
type neverSentError struct{ error }

// Unwrap returns why it left.
func (e neverSentError) Unwrap() error { return e.error }

// SafeToRetry says, as the driver's errors do, that nothing was sent.
func (neverSentError) SafeToRetry() bool { return true }

// gathered are the requests of one key.
type gathered[R any] struct {
	running int
	waiting []*companion[R]
}

// companion is a request that waits for its turn.
type companion[R any] struct {
	ctx     context.Context //nolint:containedctx // the leader's statement ends with those of all who go along
	request R
	// turn is handed those whom this one is to lead, itself included, or is closed
	// when another one has led it.
	turn chan []*companion[R]
}

// newGathering returns one with as many statements at once for each key.
func newGathering[K comparable, R any](limit int, fits func([]R, R) bool, run func(context.Context, K, []R)) *gathering[K, R] {
	return &gathering[K, R]{limit: limit, fits: fits, run: run, queues: map[K]*gathered[R]{}}
}

// do has the request run, by itself or with others. There is an error if its turn
// didn't come: until ctx ended, or for as long as others wait for a connection.
func (g *gathering[K, R]) do(ctx context.Context, key K, request R) error {
	together, err := g.arrive(ctx, key, &companion[R]{ctx: ctx, request: request, turn: make(chan []*companion[R], 1)})
	if together == nil {
		return err
	}
	defer g.end(key, together)
	if len(together) == 1 {
		g.run(ctx, key, []R{request})
		return nil
	}
	shared, stop := whileAnyStays(together)
	defer stop()
	requests := make([]R, len(together))
	for i, c := range together {
		requests[i] = c.request
	}
	g.run(shared, key, requests) //nolint:contextcheck // it ends with those of all, not with the leader's
	return nil
}

// arrive waits for the turn of c. It returns those whom c leads, or none if another
// one led it.
func (g *gathering[K, R]) arrive(ctx context.Context, key K, c *companion[R]) ([]*companion[R], error) {
	g.mu.Lock()
	q := g.queues[key]
	if q == nil {
		q = &gathered[R]{}
		g.queues[key] = q
	}
	if q.running < g.limit {
		q.running++
		g.mu.Unlock()
		return []*companion[R]{c}, nil
	}
	q.waiting = append(q.waiting, c)
	g.mu.Unlock()
	late := time.NewTimer(acquireTimeout)
	defer late.Stop()
	var err error
	select {
	case together := <-c.turn:
		return together, nil
	case <-ctx.Done():
		err = neverSentError{ctx.Err()}
	case <-late.C:
		err = fmt.Errorf("%w: requests that came before wait for the database for more than %s", seqlease.ErrBusy, acquireTimeout)
	}
	if g.leave(q, c) {
		return nil, err
	}
	// Too late: the statement may be using what the request refers to.
	return <-c.turn, nil
}

// leave says whether c no longer waits.
func (g *gathering[K, R]) leave(q *gathered[R], c *companion[R]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(q.waiting, c)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// end lets those go who were led, and hands the turn on.
func (g *gathering[K, R]) end(key K, together []*companion[R]) {
	for _, c := range together[1:] {
		close(c.turn)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.queues[key]
	if len(q.waiting) == 0 {
		if q.running--; q.running == 0 {
			delete(g.queues, key)
		}
		return
	}
	n, requests := 1, []R{q.waiting[0].request}
	for n < len(q.waiting) && g.fits(requests, q.waiting[n].request) {
		requests = append(requests, q.waiting[n].request)
		n++
	}
	next := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	next[0].turn <- next
}

// whileAnyStays returns a context that ends when those of all were cancelled, or at the
// first of their deadlines: none of them waits for longer than it would alone.
func whileAnyStays[R any](together []*companion[R]) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(together[0].ctx))
	ends := []func(){cancel}
	var first time.Time
	var stay atomic.Int64
	stay.Store(int64(len(together)))
	for _, c := range together {
		if deadline, has := c.ctx.Deadline(); has && (first.IsZero() || deadline.Before(first)) {
			first = deadline
		}
		stop := context.AfterFunc(c.ctx, func() {
			if stay.Add(-1) == 0 && errors.Is(c.ctx.Err(), context.Canceled) {
				cancel()
			}
		})
		ends = append(ends, func() { stop() })
	}
	if !first.IsZero() {
		var end func()
		ctx, end = context.WithDeadline(ctx, first)
		ends = append(ends, end)
	}
	return ctx, func() {
		for _, end := range ends {
			end()
		}
	}
}
