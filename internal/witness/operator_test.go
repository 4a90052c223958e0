package witness_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/witness"
)

// console is where operators call. Calls return of how many entries they were.
type console interface {
	free(ctx context.Context, id seqlease.AttemptID) (int, error)
	requeue(ctx context.Context, place witness.Place) (int, error)
	quarantine(ctx context.Context, place witness.Place) (int, error)
	reprocess(ctx context.Context, place witness.Place) (int, error)
	// pause stops claims of the version, or with 0 all, until the opposite is set.
	pause(ctx context.Context, v seqlease.PipelineVersion, paused bool) error
}

// storeConsole calls a store.
type storeConsole struct{ store }

const (
	operatorName = "olga"
	onPurpose    = "on purpose"
)

func (c storeConsole) free(ctx context.Context, id seqlease.AttemptID) (int, error) {
	n, _, err := c.FreeLeases(ctx, queue.FreeLeases{Organism: fern, AttemptIDs: []seqlease.AttemptID{id}, Reason: onPurpose}, 10)
	return n, err
}

// selected means the place alone.
func selected(place witness.Place) queue.Selection {
	return queue.Selection{Organism: fern, PipelineVersion: place.Pipeline, Entries: []seqlease.AccessionVersion{place.AccessionVersion}}
}

func (c storeConsole) requeue(ctx context.Context, place witness.Place) (int, error) {
	n, _, err := c.Requeue(ctx, selected(place), 0, 10)
	return n, err
}

func (c storeConsole) quarantine(ctx context.Context, place witness.Place) (int, error) {
	r, err := c.failure()
	if err != nil {
		return 0, err
	}
	n, _, err := c.PutInQuarantine(ctx, selected(place), queue.OperatorVerdict{By: operatorName, Reason: onPurpose, Result: r}, 0, 10)
	return n, err
}

func (c storeConsole) reprocess(ctx context.Context, place witness.Place) (int, error) {
	n, _, err := c.Reprocess(ctx, selected(place), 0, 10)
	return n, err
}

func (c storeConsole) pause(ctx context.Context, v seqlease.PipelineVersion, paused bool) error {
	return c.SetPaused(ctx, fern, v, paused, nil)
}

// failure is the result of what is quarantined.
func (c storeConsole) failure() (queue.PackedResult, error) {
	doc := document(seqlease.StoredResult{Errors: []seqlease.Annotation{{Message: onPurpose}}, Warnings: []seqlease.Annotation{}})
	packed, err := c.Pack(fern, doc)
	digest := sha256.Sum256(doc)
	return queue.PackedResult{Packed: packed, Digest: [16]byte(digest[:])}, err
}

// judgeSpent quarantines what is used up, as a keeper does every few seconds.
func (c storeConsole) judgeSpent(ctx context.Context) error {
	list, err := c.Spent(ctx, 20)
	if err != nil || len(list) == 0 {
		return err
	}
	r, err := c.failure()
	if err != nil {
		return err
	}
	verdicts := make([]queue.Verdict, len(list))
	for i, ticket := range list {
		verdicts[i] = queue.Verdict{SpentTicket: ticket, Reason: onPurpose, Result: r}
	}
	_, err = c.Quarantine(ctx, verdicts)
	return err
}

// httpConsole calls a server.
type httpConsole struct{ operator *client.Client }

func (c httpConsole) free(ctx context.Context, id seqlease.AttemptID) (int, error) {
	return c.operator.FreeLeases(ctx, fern, client.LeaseSelection{AttemptIDs: []seqlease.AttemptID{id}, Reason: onPurpose})
}

func meant(place witness.Place) client.Selection {
	return client.Selection{PipelineVersion: place.Pipeline, Entries: []seqlease.AccessionVersion{place.AccessionVersion}, Reason: onPurpose}
}

func (c httpConsole) requeue(ctx context.Context, place witness.Place) (int, error) {
	return c.operator.Requeue(ctx, fern, meant(place))
}

func (c httpConsole) quarantine(ctx context.Context, place witness.Place) (int, error) {
	return c.operator.Quarantine(ctx, fern, meant(place))
}

func (c httpConsole) reprocess(ctx context.Context, place witness.Place) (int, error) {
	return c.operator.Reprocess(ctx, fern, meant(place))
}

func (c httpConsole) pause(ctx context.Context, v seqlease.PipelineVersion, paused bool) error {
	if v > 0 {
		return c.operator.SetPipelinePaused(ctx, fern, v, paused, onPurpose)
	}
	_, err := c.operator.SetPaused(ctx, fern, paused, onPurpose)
	return err
}

// operator is the one client that requeues and reprocesses, so that it knows what
// it did before.
type operator struct {
	*crew
	// reprocessed are never requeued by it: whether a requeue ends the lease of what is
	// in quarantine and processed again is the store's affair.
	reprocessed map[witness.Place]bool
}

// operate lasts as long as ctx, which cuts no call short.
func (o *operator) operate(ctx context.Context) error {
	for n := 1; ctx.Err() == nil; n++ {
		pause(ctx, time.Duration(5+rand.IntN(30))*time.Millisecond)
		var err error
		calls := context.WithoutCancel(ctx)
		switch n % 8 {
		case 0, 4:
			err = o.free(calls)
		case 1, 3:
			err = o.requeue(calls)
		case 2, 5:
			err = o.quarantine(calls)
		case 6:
			err = o.reprocess(calls)
		case 7:
			if n/8%3 == 0 {
				err = o.pauseABit(calls)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// operateOn records a call about one entry.
func (c *crew) operateOn(ctx context.Context, kind witness.Kind, place witness.Place, call func(context.Context, witness.Place) (int, error)) error {
	e := witness.Event{
		Kind: kind, Client: operatorName, Call: c.Now(), Pipeline: place.Pipeline,
		Parts: []witness.Part{{AccessionVersion: place.AccessionVersion}},
	}
	var err error
	if e.Count, err = call(ctx, place); err != nil {
		return fmt.Errorf("%s %s v%d: %w", kind, place, place.Pipeline, err)
	}
	c.did(e)
	return nil
}

func (o *operator) somePlace() witness.Place {
	return witness.Place{AccessionVersion: o.someEntry(), Pipeline: pick(o.options.Pipelines)}
}

// free ends a running lease.
func (o *operator) free(ctx context.Context) error {
	running, err := o.desk.running(ctx)
	if err != nil || len(running) == 0 {
		return err
	}
	b := pick(running)
	e := witness.Event{Kind: witness.Free, Client: operatorName, Call: o.Now(), Pipeline: b.v, Attempt: b.attempt}
	if e.Count, err = o.console.free(ctx, b.attempt); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	o.did(e)
	return nil
}

// requeue takes something out of quarantine, or now and then something that isn't
// there.
func (o *operator) requeue(ctx context.Context) error {
	list, err := o.desk.quarantined(ctx)
	if err != nil {
		return fmt.Errorf("read the quarantine: %w", err)
	}
	place := o.somePlace()
	if len(list) > 0 && chance(90) {
		place = pick(list)
	}
	if o.reprocessed[place] {
		return nil
	}
	return o.operateOn(ctx, witness.Requeue, place, o.console.requeue)
}

// quarantine confines something of a claim, or whatever entry.
func (o *operator) quarantine(ctx context.Context) error {
	b, any := o.recent()
	if !any || chance(20) {
		return o.operateOn(ctx, witness.Quarantine, o.somePlace(), o.console.quarantine)
	}
	place := witness.Place{AccessionVersion: pick(b.parts).AccessionVersion, Pipeline: b.v}
	return o.operateOn(ctx, witness.Quarantine, place, o.console.quarantine)
}

// losePart has an operator confine one of the entries that the worker holds, which
// is told so when it renews.
func (w *worker) losePart(ctx context.Context, b batch) error {
	place := witness.Place{AccessionVersion: pick(b.parts).AccessionVersion, Pipeline: b.v}
	return errors.Join(w.operateOn(ctx, witness.Quarantine, place, w.console.quarantine), w.renew(ctx, b), w.send(ctx, b, b.lines))
}

func (o *operator) reprocess(ctx context.Context) error {
	place := o.somePlace()
	results, err := o.desk.results(ctx, place.Pipeline)
	if err != nil {
		return fmt.Errorf("read the results of v%d: %w", place.Pipeline, err)
	}
	if len(results) > 0 && chance(90) {
		place.AccessionVersion = pick(results).AccessionVersion
	}
	o.reprocessed[place] = true
	return o.operateOn(ctx, witness.Reprocess, place, o.console.reprocess)
}

// pauseABit pauses one version or all, and resumes.
func (o *operator) pauseABit(ctx context.Context) error {
	v := pick(append([]seqlease.PipelineVersion{0}, o.options.Pipelines...))
	set := func(kind witness.Kind) error {
		e := witness.Event{Kind: kind, Client: operatorName, Call: o.Now(), Pipeline: v}
		if err := o.console.pause(ctx, v, kind == witness.Pause); err != nil {
			return fmt.Errorf("%s v%d: %w", kind, v, err)
		}
		o.did(e)
		return nil
	}
	err := set(witness.Pause)
	pause(ctx, 40*time.Millisecond)
	return errors.Join(err, set(witness.Resume))
}
