package witness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// front is where workers call: a store, or a server over HTTP. An error other
// than those of the root package means that no answer came.
type front interface {
	claim(ctx context.Context, v seqlease.PipelineVersion, n int, lease time.Duration, user string) (claimed, error)
	// submit returns what became of each line.
	submit(ctx context.Context, v seqlease.PipelineVersion, user string, lines []witness.Part, skip bool) ([]witness.Answer, error)
	renew(ctx context.Context, id seqlease.AttemptID, user string, lease time.Duration) (renewed, error)
	giveBack(ctx context.Context, id seqlease.AttemptID, user string, entries []seqlease.AccessionVersion, counted bool) (int, error)
}

// claimed is the answer to a claim.
type claimed struct {
	attempt seqlease.AttemptID
	until   time.Time
	parts   []witness.Part
}

// renewed is the answer to a renewal.
type renewed struct {
	until time.Time
	held  int
	lost  []seqlease.AccessionVersion
}

// desk is where entries come from and where everything can be seen.
type desk interface {
	now(ctx context.Context) (time.Time, error)
	create(ctx context.Context, tags []string) ([]seqlease.AccessionVersion, error)
	// edit and remove answer [seqlease.ErrState] where the state forbids it.
	edit(ctx context.Context, av seqlease.AccessionVersion, tag string) error
	remove(ctx context.Context, av seqlease.AccessionVersion) error
	statuses(ctx context.Context) ([]witness.Part, error)
	results(ctx context.Context, v seqlease.PipelineVersion) ([]witness.Part, error)
	released(ctx context.Context) ([]witness.Part, error)
	// quarantined are the places in quarantine.
	quarantined(ctx context.Context) ([]witness.Place, error)
	// learn notes the store's ids of the entries that there are, and records returns
	// all claims that the store has a record of.
	learn(ctx context.Context) error
	records(ctx context.Context) ([]witness.Record, error)
	// running are the leases that run, of whichever claim, with their versions.
	running(ctx context.Context) ([]batch, error)
	// shorten lets a lease that runs longer than within end within it, and returns
	// when that is and what it holds; nothing if it doesn't run so long.
	shorten(ctx context.Context, id seqlease.AttemptID, within time.Duration) (time.Time, []witness.Part, error)
}

// scenario is who works where and how wild it gets.
type scenario struct {
	fronts    []front
	desk      desk
	console   console
	canChange bool // desk edits and deletes
	// sweep does what a keeper does, far more often, but little at a time; nil where
	// only servers can.
	sweep   func(ctx context.Context) error
	lease   time.Duration
	workers int
	entries int // at the start; twice as many are added while it runs
	events  int // after so many calls it ends
	options witness.Options
}

// crew are the clients of one history.
type crew struct {
	scenario
	*witness.Recorder
	t    *testing.T
	tags atomic.Int64
	n    atomic.Int64 // calls so far

	mu      sync.Mutex
	entries []seqlease.AccessionVersion
	poison  map[seqlease.AccessionVersion]bool // what workers fail at until the end
	past    []batch                            // claimed at some time
	over    context.CancelFunc
	lasting time.Duration
}

// batch is a claim with the lines that its worker means to send.
type batch struct {
	claimed
	v     seqlease.PipelineVersion
	user  string
	lines []witness.Part
}

// pastBatches is how many claims are remembered for late calls.
const pastBatches = 40

// users claim and send results.
func users() []string { return []string{"ann", "bob"} }

// leastCalls make a history worth judging. On a busy machine it goes on until
// then, but at most for muchLonger times what was asked for.
const (
	leastCalls = 500
	muchLonger = 5
)

// perform lets the crew work for about the time given, drains the queue, and
// returns the history.
func perform(t *testing.T, s scenario, lasting time.Duration) witness.History {
	t.Helper()
	start := time.Now()
	c := &crew{scenario: s, Recorder: witness.NewRecorder(func() time.Duration { return time.Since(start) }), t: t, poison: map[seqlease.AccessionVersion]bool{}}
	ctx, cancel := context.WithTimeout(t.Context(), muchLonger*lasting)
	defer cancel()
	c.lasting = lasting
	c.over = cancel
	if err := c.create(t.Context(), s.entries); err != nil {
		t.Fatal(err)
	}
	var clients errgroup.Group
	for i := range s.workers {
		clients.Go(func() error { return c.work(ctx, &worker{crew: c, name: fmt.Sprintf("worker %d", i)}) })
	}
	for i := range deskClients {
		clients.Go(func() error { return c.desks(ctx, i == 0) })
	}
	clients.Go(func() error { return c.letTimePass(ctx) })
	clients.Go(func() error { return (&operator{crew: c, reprocessed: map[witness.Place]bool{}}).operate(ctx) })
	if err := clients.Wait(); err != nil {
		t.Fatal(err)
	}
	c.drain()
	return c.History()
}

// did records a call that got an answer.
func (c *crew) did(e witness.Event) {
	e.Return = c.Now()
	c.add(e)
}

func (c *crew) add(e witness.Event) {
	c.Add(e)
	if n := c.n.Add(1); n >= int64(c.events) || n >= leastCalls && c.Now() > c.lasting {
		c.over()
	}
}

// tag makes a word that occurs once.
func (c *crew) tag(kind string) string { return fmt.Sprintf("%s%d", kind, c.tags.Add(1)) }

// pause waits as long as the context lasts.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// chance is true in so many of a hundred cases.
func chance(percent int) bool { return rand.IntN(100) < percent }

func pick[T any](list []T) T { return list[rand.IntN(len(list))] }

// create uploads n entries.
func (c *crew) create(ctx context.Context, n int) error {
	e := witness.Event{Kind: witness.Create, Client: "desk", Call: c.Now()}
	tags := make([]string, n)
	for i := range tags {
		tags[i] = c.tag("data-")
	}
	list, err := c.desk.create(context.WithoutCancel(ctx), tags)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	for i, av := range list {
		e.Parts = append(e.Parts, witness.Part{AccessionVersion: av, Tag: tags[i]})
	}
	c.did(e)
	if err := c.desk.learn(context.WithoutCancel(ctx)); err != nil { // before anything is deleted
		return fmt.Errorf("learn the ids: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, av := range list {
		if len(c.entries)%6 == 0 {
			c.poison[av] = true
		}
		c.entries = append(c.entries, av)
	}
	return nil
}

// poisonous tells the lines at which workers fail from the others.
func (c *crew) poisonous(lines []witness.Part) (bad, good []witness.Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range lines {
		if c.poison[line.AccessionVersion] {
			bad = append(bad, line)
		} else {
			good = append(good, line)
		}
	}
	return bad, good
}

// someEntry is any entry that was created, gone or not.
func (c *crew) someEntry() seqlease.AccessionVersion {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pick(c.entries)
}

// deskClients are how many edit, which makes work.
const deskClients = 3

// desks edits and deletes entries. One of them also adds some, and looks at
// everything from time to time.
func (c *crew) desks(ctx context.Context, first bool) error {
	for n := 1; ctx.Err() == nil; n++ {
		pause(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
		var err error
		switch {
		case first && n%40 == 0:
			err = c.read(ctx)
		case first && n%10 == 0 && c.created() < 3*c.scenario.entries:
			err = c.create(ctx, 1+rand.IntN(8))
		case c.canChange:
			err = c.change(ctx, c.someEntry(), chance(92))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *crew) created() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

// change edits or deletes an entry.
func (c *crew) change(ctx context.Context, av seqlease.AccessionVersion, edit bool) error {
	ctx = context.WithoutCancel(ctx)
	e := witness.Event{Kind: witness.Delete, Client: "desk", Call: c.Now(), Parts: []witness.Part{{AccessionVersion: av}}}
	var err error
	if edit {
		e.Kind, e.Parts[0].Tag = witness.Edit, c.tag("data-")
		err = c.desk.edit(ctx, av, e.Parts[0].Tag)
	} else {
		err = c.desk.remove(ctx, av)
	}
	if err != nil && !errors.Is(err, seqlease.ErrState) {
		return fmt.Errorf("%s %s: %w", e.Kind, av, err)
	}
	e.Refused = err != nil
	c.did(e)
	return nil
}

// read looks at every entry.
func (c *crew) read(ctx context.Context) (err error) {
	e := witness.Event{Kind: witness.Read, Client: "desk", Call: c.Now(), Pipeline: c.options.Current}
	if e.Parts, err = c.desk.statuses(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	c.did(e)
	return nil
}

// letTimePass compares clocks, makes leases that were just claimed end soon, and
// tidies up.
func (c *crew) letTimePass(ctx context.Context) error {
	for ctx.Err() == nil {
		pause(ctx, 20*time.Millisecond)
		call := c.Now()
		now, err := c.desk.now(context.WithoutCancel(ctx))
		if err != nil {
			return fmt.Errorf("now: %w", err)
		}
		c.Calibrate(call, now, c.Now())
		if c.sweep != nil {
			if err := c.sweep(context.WithoutCancel(ctx)); err != nil {
				return fmt.Errorf("sweep: %w", err)
			}
		}
		if b, any := c.recent(); any {
			if err := c.shorten(ctx, b, time.Duration(rand.IntN(300))*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// recent is one of the last claims.
func (c *crew) recent() (batch, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.past) == 0 {
		return batch{}, false
	}
	return c.past[len(c.past)-1-rand.IntN(min(len(c.past), 2*c.workers))], true
}

func (c *crew) shorten(ctx context.Context, b batch, within time.Duration) error {
	e := witness.Event{Kind: witness.Shorten, Client: "time", Call: c.Now(), Pipeline: b.v, Attempt: b.attempt}
	var err error
	if e.Until, e.Parts, err = c.desk.shorten(context.WithoutCancel(ctx), b.attempt, within); err != nil {
		return fmt.Errorf("shorten: %w", err)
	}
	if !e.Until.IsZero() {
		c.did(e)
	}
	return nil
}

func (c *crew) remember(b batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.past = append(c.past, b); len(c.past) > pastBatches {
		c.past = c.past[1:]
	}
}
