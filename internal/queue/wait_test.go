package queue_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// counted counts the calls that claims and looks make of a store.
type counted struct {
	queue.Store
	claims, looks atomic.Int64
}

func (c *counted) Claim(ctx context.Context, claim queue.Claim) (queue.Lease, error) {
	c.claims.Add(1)
	return c.Store.Claim(ctx, claim)
}

func (c *counted) Stirred(ctx context.Context, awaited []queue.Awaited) ([]bool, error) {
	c.looks.Add(1)
	return c.Store.Stirred(ctx, awaited)
}

// lobby is a house with its waiting room in a bubble of the test, where time passes
// when everybody waits.
type lobby struct {
	*house
	calls   *counted
	stop    func() // ends Run, and waits until it has
	waiters sync.WaitGroup
	answers chan answer
}

type answer struct {
	lease queue.Lease
	err   error
	after time.Duration // since the claim began
}

// openLobby opens it with n entries waiting. Without options nothing but the looks
// at the counters wakes.
func openLobby(t *testing.T, n int, bell *queue.Bell, options ...queue.Option) *lobby {
	t.Helper()
	l := &lobby{calls: &counted{}, answers: make(chan answer, 1000)}
	l.house = openWith(t, n, func(s queue.Store) queue.Store { l.calls.Store = s; return l.calls }, bell, options...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(func() {
		l.stop()
		l.waiters.Wait()
	})
	return l
}

// wait lets n claims wait for work, and returns when they do.
func (l *lobby) wait(ctx context.Context, n int, o seqlease.Organism) {
	for range n {
		l.waiters.Go(func() {
			begin := time.Now()
			lease, err := l.Claim(ctx, queue.ClaimRequest{
				Organism: o, PipelineVersion: 1, Entries: 100, ClaimedBy: "pipeline", Wait: queue.MaxWait,
			})
			l.answers <- answer{lease, err, time.Since(begin)}
		})
	}
	synctest.Wait()
}

// pass lets time pass.
func pass(d time.Duration) { <-time.After(d); synctest.Wait() }

// answered takes the answers that there are.
func (l *lobby) answered() []answer {
	var list []answer
	for {
		select {
		case a := <-l.answers:
			list = append(list, a)
		default:
			return list
		}
	}
}

func TestWait_SixtyFourIdleWorkersCostOneLookASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 0, nil)
		pass(time.Minute)
		if n := l.calls.looks.Load(); n != 0 {
			t.Errorf("%d looks while nobody waits", n)
		}
		l.wait(t.Context(), 64, fern)
		pass(20*time.Second + time.Second/2)
		if claims, looks := l.calls.claims.Load(), l.calls.looks.Load(); claims != 64 || looks < 19 || looks > 21 {
			t.Errorf("64 workers that waited for 20 s cost %d claims and %d looks, want 64 and 20", claims, looks)
		}
		if early := l.answered(); len(early) > 0 {
			t.Errorf("%d were answered early", len(early))
		}
		pass(10 * time.Second)
		answers := l.answered()
		if len(answers) != 64 {
			t.Fatalf("%d were answered after 30 s, want 64", len(answers))
		}
		for _, a := range answers {
			if a.err != nil || len(a.lease.Entries) > 0 || a.lease.Mark == "" || a.after != queue.MaxWait {
				t.Fatalf("got %+v after %s, want an empty answer with a mark after %s", a, a.after, queue.MaxWait)
			}
		}
		looks := l.calls.looks.Load()
		pass(time.Minute)
		if n := l.calls.looks.Load(); n > looks+1 {
			t.Errorf("%d looks after everybody left", n-looks)
		}
	})
}

func TestWait_OneEntryWakesOneClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 0, nil)
		l.wait(t.Context(), 63, fern)
		l.wait(t.Context(), 1, "other")
		l.submit(t, 1)
		pass(2 * time.Second)
		answers := l.answered()
		if len(answers) != 1 || len(answers[0].lease.Entries) != 1 || answers[0].after > 2*time.Second {
			t.Fatalf("got %+v, want one answer with the entry within two seconds", answers)
		}
		// The one that got the entry woke the next, which found nothing; nobody else moved.
		if n := l.calls.claims.Load(); n != 64+2 {
			t.Errorf("%d claims, want 64 of those that came and 2 of those that were woken", n)
		}
		l.submit(t, 450)
		pass(2 * time.Second)
		entries := 0
		for _, a := range l.answered() {
			entries += len(a.lease.Entries)
		}
		if n := l.calls.claims.Load(); entries != 450 || n != 64+2+6 {
			t.Errorf("%d entries with %d more claims, want 450 with 5 that got some and one that didn't", entries, n-66)
		}
	})
}

func TestWait_ABellWakesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bell := &queue.Bell{}
		l := openLobby(t, 0, bell, queue.WithBell(bell))
		l.wait(t.Context(), 2, fern)
		l.wait(t.Context(), 1, "other")
		l.submit(t, 1)
		synctest.Wait()
		answers := l.answered()
		if len(answers) != 1 || len(answers[0].lease.Entries) != 1 || answers[0].after != 0 {
			t.Errorf("got %+v, want the entry at once", answers)
		}
		if looks := l.calls.looks.Load(); looks != 0 {
			t.Errorf("%d looks before a second was over", looks)
		}
	})
}

func TestWait_L16_ResumingWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 1, nil)
		if err := l.Pause(t.Context(), fern, 0, "root", "maintenance"); err != nil {
			t.Fatal(err)
		}
		l.wait(t.Context(), 1, fern)
		pass(5 * time.Second)
		if answers := l.answered(); len(answers) != 0 {
			t.Errorf("got %+v while the organism is paused", answers)
		}
		if err := l.Resume(t.Context(), fern, 0, "root", "done"); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		if answers := l.answered(); len(answers) != 1 || len(answers[0].lease.Entries) != 1 {
			t.Errorf("got %+v, want the entry", answers)
		}
	})
}

func TestWait_L14_ALeaseThatRunsOutWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 3, nil)
		l.claim(t, 3)
		l.wait(t.Context(), 2, fern)
		pass(5 * time.Second)
		if early := l.answered(); len(early) > 0 {
			t.Fatalf("answered before the lease end: %+v", early)
		}
		l.age(t)
		pass(2 * time.Second)
		answers := l.answered()
		if len(answers) == 0 || len(answers[0].lease.Entries) == 0 || answers[0].lease.Entries[0].Attempt != 2 {
			t.Errorf("got %+v, want entries in their second attempt", answers)
		}
	})
}

func TestWait_L8_ACallerThatLeavesTakesNobodysTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 0, nil)
		ctx, leave := context.WithCancel(t.Context())
		l.wait(ctx, 1, fern) // the first in line
		l.wait(t.Context(), 1, fern)
		l.submit(t, 1)
		leave()
		synctest.Wait()
		pass(2 * time.Second)
		answers := l.answered()
		if len(answers) != 2 || !errors.Is(answers[0].err, context.Canceled) || len(answers[1].lease.Entries) != 1 {
			t.Errorf("got %+v, want one that left and one with the entry", answers)
		}
	})
}

func TestWait_AStopAnswersEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 0, nil)
		l.wait(t.Context(), 64, fern)
		l.stop()
		l.wait(t.Context(), 1, fern) // one that comes too late
		answers := l.answered()
		if len(answers) != 65 {
			t.Fatalf("%d were answered, want 65", len(answers))
		}
		for _, a := range answers {
			if a.err != nil || len(a.lease.Entries) > 0 || a.lease.Mark == "" || a.after != 0 {
				t.Errorf("got %+v after %s, want an empty answer at once", a, a.after)
			}
		}
	})
}

func TestWait_AnEntryThatIsThereIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := openLobby(t, 1, nil)
		l.wait(t.Context(), 1, fern)
		if answers := l.answered(); len(answers) != 1 || len(answers[0].lease.Entries) != 1 || answers[0].after != 0 {
			t.Errorf("got %+v, want the entry at once", answers)
		}
	})
}
