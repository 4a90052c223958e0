package witness_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// drainTimeout bounds the end of a history: what is held ends within a lease, and
// what is used up is quarantined within seconds.
const drainTimeout = time.Minute

// drain lets all leases end and processes what waits until there is nothing left,
// and then reads everything.
func (c *crew) drain() {
	c.t.Helper()
	start := c.Now()
	defer func() { c.t.Logf("drained in %s", c.Now()-start) }()
	ctx, cancel := context.WithTimeout(c.t.Context(), drainTimeout)
	defer cancel()
	w := &worker{crew: c, name: "drain"}
	for {
		if err := c.finishWhatWaits(ctx, w); err != nil {
			c.t.Fatal(err)
		}
		left, err := c.left(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		if left == "" {
			break
		}
		if ctx.Err() != nil {
			c.t.Errorf("not drained after %s: %s", drainTimeout, left) // and the history tells more
			break
		}
	}
	if err := c.lastReadings(context.WithoutCancel(ctx)); err != nil {
		c.t.Fatal(err)
	}
}

// finishWhatWaits claims and processes of each version as long as anything comes.
func (c *crew) finishWhatWaits(ctx context.Context, w *worker) error {
	running, err := c.desk.running(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	for _, b := range running {
		if err := c.shorten(ctx, b, 10*time.Millisecond); err != nil {
			return err
		}
	}
	pause(ctx, 20*time.Millisecond)
	var clients errgroup.Group
	for range c.workers {
		for _, v := range c.options.Pipelines {
			clients.Go(func() error { return w.processAll(ctx, v) })
		}
	}
	return clients.Wait()
}

// processAll claims and processes as long as anything comes.
func (w *worker) processAll(ctx context.Context, v seqlease.PipelineVersion) error {
	for {
		b, err := w.claim(ctx, v, 50, false)
		if err != nil || len(b.parts) == 0 {
			return err
		}
		if _, err := w.submit(ctx, b, b.lines, false); err != nil {
			return err
		}
	}
}

// left names an entry that isn't processed, if there is one.
func (c *crew) left(ctx context.Context) (string, error) {
	ctx = context.WithoutCancel(ctx)
	parts, err := c.desk.statuses(ctx)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		if part.Status != seqlease.Processed {
			return fmt.Sprintf("%s is %s", part.AccessionVersion, part.Status), nil
		}
	}
	for _, v := range c.options.Pipelines {
		results, err := c.desk.results(ctx, v)
		if err != nil {
			return "", err
		}
		if len(results) < len(parts) {
			return fmt.Sprintf("%d of %d results of version %d", len(results), len(parts), v), nil
		}
	}
	return "", nil
}

// lastReadings record what there is at the end.
func (c *crew) lastReadings(ctx context.Context) error {
	if err := c.read(ctx); err != nil {
		return err
	}
	for _, v := range c.options.Pipelines {
		e := witness.Event{Kind: witness.Results, Client: "desk", Call: c.Now(), Pipeline: v}
		var err error
		if e.Parts, err = c.desk.results(ctx, v); err != nil {
			return err
		}
		c.did(e)
	}
	e := witness.Event{Kind: witness.Released, Client: "desk", Call: c.Now(), Pipeline: c.options.Current}
	var err error
	if e.Parts, err = c.desk.released(ctx); err != nil {
		return err
	}
	c.did(e)
	records, err := c.desk.records(ctx)
	if err != nil {
		return err
	}
	c.Record(records)
	return nil
}

// checked fails the test for each violation and says what the history was made of.
func checked(t *testing.T, h witness.History, o witness.Options) map[string]int {
	t.Helper()
	o.Drained = true
	start := time.Now()
	violations := slices.Concat(witness.Facts(h, o), witness.Check(h, o))
	tally := h.Tally()
	t.Logf("%d calls judged in %s: %v", len(h.Events), time.Since(start), tally)
	for i, violation := range violations {
		if i == 5 {
			t.Errorf("and %d violations more", len(violations)-i)
			break
		}
		t.Error(violation)
	}
	return tally
}
