//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
	"github.com/seqlease/seqlease/internal/fault/proxy"
)

// drainLimit is how long the work may take to finish once nothing is broken:
// leases run out one after the other where entries were claimed by nobody.
const drainLimit = 4 * time.Minute

// networkLimit is how long it may take until each kind of network fault has met a
// request: idle workers ask too.
const networkLimit = 2 * time.Minute

// snapshotLimit is how long reading the database may take; a frozen one takes
// until it goes on.
const snapshotLimit = 30 * time.Second

// Plan says which faults happen.
type Plan struct {
	// Steps happen one after the other; the faults of a step at once. A fault may wait
	// for what another one has.
	Steps [][]Kind
	// Random lets faults happen at random for so long, after the steps, each
	// beginning within Every of the one before.
	Random, Every time.Duration
}

// Run lets a fleet work while the plan's faults happen, lets it finish, and
// checks everything. Violations are in the report; an error means that the run
// itself failed, or that the work did not come to its end.
func Run(ctx context.Context, o Options, plan Plan) (_ *Report, err error) {
	f, err := newFleet(ctx, o)
	defer func() { err = errors.Join(err, f.close()) }()
	if err != nil {
		return nil, err
	}
	submitting, stop := context.WithCancel(ctx)
	defer stop()
	var submitter sync.WaitGroup
	submitter.Go(func() { f.submit.run(submitting, o.Entries) })
	if err := f.awaitWork(ctx); err != nil {
		stop()
		submitter.Wait()
		return nil, err
	}
	f.disturb(o.NetworkFaults)
	err = f.follow(ctx, plan)
	if err == nil && o.NetworkFaults > 0 {
		err = f.awaitNetworkFaults(ctx)
	}
	if o.Entries == 0 {
		stop()
	}
	f.disturb(0)
	submitter.Wait()
	if err == nil {
		err = f.drain(ctx)
	}
	stop()
	if err != nil {
		return nil, err
	}
	return f.conclude(ctx)
}

// awaitWork waits for the first accepted result, and until enough workers are
// attached: faults before are none.
func (f *Fleet) awaitWork(ctx context.Context) error {
	return await(ctx, "the first results", startLimit, func(context.Context) (bool, string) {
		lines, err := f.lines()
		if err != nil {
			return false, err.Error()
		}
		attached := map[string]bool{}
		for i := range lines {
			attached[lines[i].Worker] = attached[lines[i].Worker] || lines[i].Call == evidence.CallClaim
		}
		working := slices.ContainsFunc(lines, func(l evidence.Line) bool { return l.Accepted() })
		return working && len(attached) >= f.options.Attached, fmt.Sprintf("%d calls by %d workers", len(lines), len(attached))
	})
}

func (f *Fleet) disturb(chance float64) {
	for _, s := range f.servers {
		s.proxy.Disturb(chance, proxy.Kinds...)
	}
}

// awaitNetworkFaults waits until each kind has met a request: how many requests
// there are in the time of the other faults is the machine's affair.
func (f *Fleet) awaitNetworkFaults(ctx context.Context) error {
	return await(ctx, "each network fault to meet a request", networkLimit, func(context.Context) (bool, string) {
		met := map[proxy.Kind]int{}
		for _, s := range f.servers {
			for kind, n := range s.proxy.Counts() {
				met[kind] += n
			}
		}
		missing := slices.DeleteFunc(slices.Clone(proxy.Kinds), func(k proxy.Kind) bool { return met[k] > 0 })
		return len(missing) == 0, fmt.Sprintf("none met %q", missing)
	})
}

// follow lets the plan's faults happen, with a look at the database after each.
func (f *Fleet) follow(ctx context.Context, plan Plan) error {
	random := rand.New(rand.NewPCG(f.options.Seed, 4))
	for _, step := range plan.Steps {
		var group errgroup.Group
		for _, kind := range step {
			own := rand.New(rand.NewPCG(random.Uint64(), 5))
			group.Go(func() error { return f.insist(ctx, kind, own) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		f.checkNow(ctx)
	}
	return f.improvise(ctx, plan, random)
}

// insist waits for what the fault needs.
func (f *Fleet) insist(ctx context.Context, kind Kind, random *rand.Rand) error {
	var err error
	waited := await(ctx, string(kind), 2*time.Minute, func(ctx context.Context) (bool, string) {
		err = f.inflict(ctx, kind, random)
		return !errors.Is(err, errBusy), fmt.Sprint(err)
	})
	return errors.Join(waited, err)
}

// improvise lets faults happen at random.
func (f *Fleet) improvise(ctx context.Context, plan Plan, random *rand.Rand) error {
	if plan.Random == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	kinds := slices.Sorted(maps.Keys(f.inflictors()))
	for end := time.Now().Add(plan.Random); time.Now().Before(end) && ctx.Err() == nil; {
		kind := kinds[random.IntN(len(kinds))]
		own := rand.New(rand.NewPCG(random.Uint64(), 6))
		group.Go(func() error {
			if err := f.inflict(ctx, kind, own); !errors.Is(err, errBusy) {
				f.checkNow(ctx)
				return err
			}
			return nil
		})
		pause(ctx, between(random, 0, plan.Every))
	}
	return group.Wait()
}

// checkNow checks a snapshot of the database, if it can be had at the moment.
func (f *Fleet) checkNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	stored, err := storedIn(ctx, f.store)
	if err != nil {
		return // another fault has the database
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := evidence.CheckPlaces(stored, f.operated.Reprocessed)
	f.checks++
	f.observed = append(f.observed, found...)
}

// inQueue counts the entries that wait or are in processing, by the database.
func (f *Fleet) inQueue(ctx context.Context) (n int, err error) {
	stored, err := storedIn(ctx, f.store)
	for _, s := range stored {
		n += s.Tickets + len(s.Leases)
	}
	return n, err
}

// drain waits until nothing waits and nothing is in processing, and lets the
// workers stop.
func (f *Fleet) drain(ctx context.Context) error {
	operator, err := f.direct(f.settings.operator)
	if err != nil {
		return err
	}
	f.tell("everything is mended; the rest is worked off")
	err = await(ctx, "the work to be done", drainLimit, func(ctx context.Context) (bool, string) {
		listing, err := operator.ListEntries(ctx, organism, client.ListFilter{Statuses: []seqlease.Status{}})
		if err != nil {
			return false, err.Error()
		}
		left := listing.StatusCounts[seqlease.Received] + listing.StatusCounts[seqlease.InProcessing]
		if left > 0 {
			return false, fmt.Sprintf("%v", listing.StatusCounts)
		}
		again, err := f.inQueue(ctx) // those with a result don't show that they wait (V9)
		return err == nil && again == 0, fmt.Sprintf("%d entries wait to be processed again (%v)", again, err)
	})
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, w := range f.workers {
		p := w.running()
		group.Go(func() error {
			if err := p.terminate(ctx, stopLimit); err != nil {
				return fmt.Errorf("%s didn't stop in good order: %w; its log is %s", p.name, err, p.log)
			}
			return nil
		})
	}
	return group.Wait()
}
