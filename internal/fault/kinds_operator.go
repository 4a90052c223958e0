//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// operatorReason is what operators say of their calls.
const operatorReason = "chaos"

// operatorEntries is how many entries an operator means at most.
const operatorEntries = 20

// operatorLimit is how long operators try to set right what they did.
const operatorLimit = 2 * time.Minute

// operate lets an operator do something, which says how many entries it moved.
// Where it moved none, or the servers are in another fault's hands, nothing was done.
func (f *Fleet) operate(ctx context.Context, kind Kind, do func(context.Context, *client.Client) (int, error)) error {
	operator, err := f.direct(f.settings.operator)
	if err != nil {
		return err
	}
	n, err := do(ctx, operator)
	if err != nil {
		return unlessAway(err)
	}
	if n == 0 {
		return errBusy
	}
	f.mu.Lock()
	f.moved += n
	f.mu.Unlock()
	f.tell("%s: %d", kind, n)
	return nil
}

// unlessAway is errBusy if another fault has what the call needs, and the error
// itself if the server refused the call for good.
func unlessAway(err error) error {
	var problem *client.ProblemError
	if err == nil || errors.As(err, &problem) && !problem.Temporary() && !errors.Is(err, seqlease.ErrStorageFull) {
		return err
	}
	return errors.Join(errBusy, err)
}

// ending notes that an operator is about to end holds, and returns how to note
// that the call was answered.
func (f *Fleet) ending(holds ...evidence.Held) (answered func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := len(f.operated.Endings)
	for _, h := range holds {
		f.operated.Endings = append(f.operated.Endings, evidence.Ending{Span: evidence.Span{From: evidence.Uptime()}, Held: h})
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := range holds {
			f.operated.Endings[first+i].Until = evidence.Uptime()
		}
	}
}

// freeLease ends a lease that runs.
func (f *Fleet) freeLease(ctx context.Context, random *rand.Rand) error {
	return f.operate(ctx, LeaseFreed, func(ctx context.Context, operator *client.Client) (int, error) {
		page, err := operator.Leases(ctx, organism, client.Page{})
		if err != nil {
			return 0, err
		}
		page.Leases = slices.DeleteFunc(page.Leases, func(l client.HeldLease) bool { return l.Ended })
		if len(page.Leases) == 0 {
			return 0, nil
		}
		id := page.Leases[random.IntN(len(page.Leases))].AttemptID
		answered := f.ending(evidence.Held{AttemptID: id})
		n, err := operator.FreeLeases(ctx, organism, client.LeaseSelection{AttemptIDs: []seqlease.AttemptID{id}, Reason: operatorReason})
		if err == nil {
			answered()
		}
		return n, err
	})
}

// quarantine puts entries that wait or are in processing into quarantine, and
// takes them out again.
func (f *Fleet) quarantine(ctx context.Context, random *rand.Rand) error {
	return f.operate(ctx, Quarantined, func(ctx context.Context, operator *client.Client) (int, error) {
		stored, err := storedIn(ctx, f.store)
		if err != nil {
			return 0, err // another fault has the database
		}
		entries := someOf(random, stored, func(s evidence.Stored) bool { return s.Result.IsZero() })
		if len(entries) == 0 {
			return 0, nil
		}
		holds := make([]evidence.Held, len(entries))
		for i, av := range entries {
			holds[i].AccessionVersion = av
		}
		selection := client.Selection{Entries: entries, Reason: operatorReason}
		answered := f.ending(holds...)
		n, err := operator.Quarantine(ctx, organism, selection)
		if err == nil {
			answered()
		}
		pause(ctx, between(random, 0, time.Second))
		return n, errors.Join(err, until(ctx, "entries to be requeued", func(ctx context.Context) error {
			_, err := operator.Requeue(ctx, organism, selection)
			return err
		}))
	})
}

// requeue takes out of quarantine what is in it.
func (f *Fleet) requeue(ctx context.Context, random *rand.Rand) error {
	return f.operate(ctx, Requeued, func(ctx context.Context, operator *client.Client) (int, error) {
		page, err := operator.Quarantined(ctx, organism, client.Page{})
		if err != nil || len(page.Entries) == 0 {
			return 0, err
		}
		entry := page.Entries[random.IntN(len(page.Entries))]
		return operator.Requeue(ctx, organism, client.Selection{Entries: []seqlease.AccessionVersion{entry.AccessionVersion}, Reason: operatorReason})
	})
}

// reprocess lets entries with a result be processed again.
func (f *Fleet) reprocess(ctx context.Context, random *rand.Rand) error {
	return f.operate(ctx, Reprocessed, func(ctx context.Context, operator *client.Client) (int, error) {
		stored, err := storedIn(ctx, f.store)
		if err != nil {
			return 0, err // another fault has the database
		}
		entries := someOf(random, stored, func(s evidence.Stored) bool { return !s.Result.IsZero() && !s.Quarantined })
		if len(entries) == 0 {
			return 0, nil
		}
		f.mu.Lock()
		for _, av := range entries {
			f.operated.Reprocessed[av]++
		}
		f.mu.Unlock()
		return operator.Reprocess(ctx, organism, client.Selection{Entries: entries, Reason: operatorReason})
	})
}

// pauseQueue lets claims find nothing for a while.
func (f *Fleet) pauseQueue(ctx context.Context, random *rand.Rand) error {
	if !f.pausing.TryLock() {
		return errBusy
	}
	defer f.pausing.Unlock()
	operator, err := f.direct(f.settings.operator)
	if err != nil {
		return err
	}
	_, err = operator.SetPaused(ctx, organism, true, operatorReason)
	span := evidence.Span{From: evidence.Uptime()}
	if err == nil {
		d := between(random, time.Second, 4*time.Second)
		f.tell("%s for %s", QueuePaused, d.Round(100*time.Millisecond))
		pause(ctx, d)
		span.Until = evidence.Uptime()
		f.mu.Lock()
		f.operated.Pauses = append(f.operated.Pauses, span)
		f.mu.Unlock()
	}
	return errors.Join(unlessAway(err), until(context.WithoutCancel(ctx), "the organism to be resumed", func(ctx context.Context) error {
		_, err := operator.SetPaused(ctx, organism, false, operatorReason)
		return err
	}))
}

// until repeats a call until it goes well: servers come back.
func until(ctx context.Context, what string, call func(context.Context) error) error {
	return await(ctx, what, operatorLimit, func(ctx context.Context) (bool, string) {
		err := call(ctx)
		return err == nil, fmt.Sprint(err)
	})
}

// someOf picks entries that fit.
func someOf(random *rand.Rand, stored []evidence.Stored, fits func(evidence.Stored) bool) []seqlease.AccessionVersion {
	var list []seqlease.AccessionVersion
	for _, i := range random.Perm(len(stored)) {
		if fits(stored[i]) && len(list) < operatorEntries {
			list = append(list, stored[i].AccessionVersion)
		}
	}
	return list
}
