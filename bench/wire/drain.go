package wire

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/client"
)

// Workers is how many workers drain a queue, and Batch how many entries they claim
// at once.
const (
	Workers = 64
	Batch   = 100
)

// worker makes the calls of a pipeline.
type worker interface {
	// claim returns an empty batch if nothing came within the time.
	claim(ctx context.Context, entries, waitSeconds int) ([]claimed, error)
	submit(ctx context.Context, batch []claimed) (refused int, err error)
}

// Drained is what a drain took.
type Drained struct {
	Entries int
	// Claims are those that returned entries.
	Claims int
	// Lost are claims that got nothing though entries waited.
	Lost int
	// Refused are lines of results that weren't stored though the lease was running.
	Refused int
	// Took is from the first claim to the last answer to results.
	Took time.Duration
	// CPU is the processor time that it took.
	CPU CPUTime
}

// Rate is in entries per second.
func (d Drained) Rate() float64 { return float64(d.Entries) / d.Took.Seconds() }

// Replay drains the n entries from the number first with workers that send replies
// made beforehand.
func (s *Site) Replay(ctx context.Context, replies Replies, first, n int) (Drained, error) {
	return s.drain(ctx, first, n, func(number int, transport *http.Transport) (worker, error) {
		return newReplayer(s, number, replies, transport), nil
	})
}

// Official drains them with workers that use the product's client.
func (s *Site) Official(ctx context.Context, samples []genome.Sample, first, n int) (Drained, error) {
	return s.drain(ctx, first, n, func(number int, transport *http.Transport) (worker, error) {
		return newOfficial(s, number, samples, transport)
	})
}

// drain lets the workers work until all entries are processed. Each must be stored
// just once, and the server must count so many.
func (s *Site) drain(ctx context.Context, first, n int, hire func(number int, transport *http.Transport) (worker, error)) (d Drained, err error) {
	before, err := s.CPU(ctx)
	if err != nil {
		return d, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: Workers, DisableCompression: true}
	defer transport.CloseIdleConnections()
	workers := make([]worker, Workers)
	for number := range workers {
		if workers[number], err = hire(number, transport); err != nil {
			return d, err
		}
	}
	l := &ledger{first: first, stored: make([]atomic.Bool, n), site: s, began: time.Now()}
	crew, working := errgroup.WithContext(ctx)
	for _, w := range workers {
		crew.Go(func() error { return l.work(working, w) })
	}
	if err := crew.Wait(); err != nil {
		return d, err
	}
	after, err := s.CPU(ctx)
	d = Drained{
		Entries: n, Claims: int(l.claims.Load()), Lost: l.races.lost(), Refused: int(l.refused.Load()),
		Took: time.Duration(l.last.Load()), CPU: after.Since(before),
	}
	return d, err
}

// ledger is what the workers of a drain have done together.
type ledger struct {
	site            *Site
	first           int
	stored          []atomic.Bool // by the number of the entry, from first
	began           time.Time
	done            atomic.Int64
	claims, refused atomic.Int64
	last            atomic.Int64 // since began
	races           races
}

// races notes when claims that got nothing were answered, and when the last one began
// that got something. Nothing comes to a queue while it is drained: what that one got
// had been waiting when those were answered. (Results that are refused go back to the
// queue; they fail the drain's own target.)
type races struct {
	mu      sync.Mutex
	empty   []time.Time
	success time.Time
}

func (r *races) note(began time.Time, entries int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case entries == 0:
		r.empty = append(r.empty, time.Now())
	case began.After(r.success):
		r.success = began
	}
}

// lost is how many got nothing though something waited.
func (r *races) lost() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.empty {
		if at.Before(r.success) {
			n++
		}
	}
	return n
}

// work claims and submits until everything is stored.
func (l *ledger) work(ctx context.Context, w worker) error {
	for int(l.done.Load()) < len(l.stored) {
		began := time.Now()
		batch, err := w.claim(ctx, Batch, 1)
		if err != nil {
			return err
		}
		l.races.note(began, len(batch))
		if len(batch) == 0 {
			continue
		}
		l.claims.Add(1)
		refused, err := w.submit(ctx, batch)
		if err != nil {
			return err
		}
		if refused > 0 { // nothing of it is stored
			l.refused.Add(int64(refused))
			if err := l.giveBack(ctx, batch[0]); err != nil {
				return err
			}
			continue
		}
		if err := l.note(batch); err != nil {
			return err
		}
	}
	return nil
}

// note notes a batch as stored.
func (l *ledger) note(batch []claimed) error {
	for _, e := range batch {
		at := e.number - l.first
		if at < 0 || at >= len(l.stored) {
			return fmt.Errorf("%s is entry %d, which isn't one of the drain", e.accession, e.number)
		}
		if l.stored[at].Swap(true) {
			return fmt.Errorf("%s, entry %d, was accepted twice", e.accession, e.number)
		}
	}
	l.last.Store(int64(time.Since(l.began)))
	l.done.Add(int64(len(batch)))
	return nil
}

// giveBack lets others have a batch of which results were refused.
func (l *ledger) giveBack(ctx context.Context, e claimed) error {
	c, err := client.New(l.site.Servers[0].URL, l.site.settings.pipeline)
	if err != nil {
		return err
	}
	id, err := seqlease.ParseAttemptID(e.attempt)
	if err != nil {
		return err
	}
	_, err = c.ReturnLease(ctx, l.site.Organism.Key, client.LeaseReturn{AttemptID: id})
	return err
}
