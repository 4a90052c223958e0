package queue

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
)

// How often the keeper does what. Each pause is drawn from three quarters to five
// quarters of it, so that several servers don't work in step.
const (
	// tidyEvery: spent entries are to be quarantined within 5 s (L9).
	tidyEvery = 2 * time.Second
	// chunkEvery is the pause between two chunks of the history or of the entries: a
	// million entries are looked at in a quarter of an hour.
	chunkEvery = 2 * time.Second
	// trimEvery and reconcileEvery are the pauses when there was no more to do.
	trimEvery      = 10 * time.Minute
	reconcileEvery = time.Minute
	// uploadKeysFor is how long uploads are known by their keys.
	uploadKeysFor = 7 * 24 * time.Hour
	// keeperTimeout bounds one transaction of the keeper.
	keeperTimeout = time.Minute
)

// How much the keeper does in one transaction.
const (
	sweepLeases     = 10 // of at most 1,000 entries each
	trimRecords     = 1000
	trimKeys        = 100 // with an answer of some megabytes each, at worst
	reconcileChunk  = 2000
	quarantineChunk = 200
	// maxSpent is how many spent tickets are looked through for some that can be
	// quarantined, if all before them can't. Each comes with up to 20 kB of reasons.
	maxSpent = 3_200
)

// KeeperOptions are what a keeper goes by.
type KeeperOptions struct {
	Retry      Retry         // of the store; zero: [DefaultRetry]
	HistoryFor time.Duration // how long ended claims and failures are kept; zero: for ever
	Logger     *slog.Logger  // nil: says nothing
	// Ended is told whose leases ran out, such as [Queue.LeasesEnded]; nil: nobody is.
	Ended func([]EndedLease)
}

// keptStore is what a keeper needs of a [Store].
type keptStore interface {
	KeeperStore
	packer
}

// Keeper tidies up behind the queue: it makes the entries of ended leases wait
// again, quarantines what is used up, trims the history, and gives tickets to
// entries that have none (L1, L9, V4). Any number of servers may run keepers at
// once, and while none runs everything but quarantine goes on (L4).
type Keeper struct {
	store   keptStore
	options KeeperOptions
}

// NewKeeper returns a keeper. It does nothing until [Keeper.Run].
func NewKeeper(store keptStore, o KeeperOptions) *Keeper {
	if o.Retry == (Retry{}) {
		o.Retry = DefaultRetry
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{store: store, options: o}
}

// Run works until ctx ends. What fails is logged, at most once a minute, and tried
// again; no failure ends it. Call it once.
func (k *Keeper) Run(ctx context.Context) error {
	var chores errgroup.Group
	chores.Go(func() error { k.repeat(ctx, "sweeping and quarantine", k.tidy); return nil })
	chores.Go(func() error { k.repeat(ctx, "trimming the history", k.trim); return nil })
	chores.Go(func() error {
		k.repeat(ctx, "looking for entries without a ticket", k.reconciler())
		return nil
	})
	chores.Go(func() error { k.repeat(ctx, "forgetting keys of uploads", k.trimKeys); return nil })
	return chores.Wait()
}

// chore does a little and says after which pause to go on.
type chore func(ctx context.Context) (pause time.Duration, err error)

// repeat does a chore until ctx ends, first after the pause between two chunks.
func (k *Keeper) repeat(ctx context.Context, work string, do chore) {
	var complaints complaints
	pause := chunkEvery
	timer := time.NewTimer(jitter(pause))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next, err := do(ctx)
		if err != nil && ctx.Err() == nil {
			complaints.log(ctx, k.options.Logger, work, err)
		}
		timer.Reset(jitter(next))
	}
}

func jitter(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2) //nolint:gosec // a pause, not a secret
}

// trim forgets some of the history.
func (k *Keeper) trim(ctx context.Context) (time.Duration, error) {
	if k.options.HistoryFor == 0 {
		return trimEvery, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	n, err := k.store.TrimHistory(ctx, k.options.HistoryFor, trimRecords)
	if err != nil || n >= trimRecords {
		return chunkEvery, err
	}
	return trimEvery, nil
}

// trimKeys forgets some keys of uploads.
func (k *Keeper) trimKeys(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	n, err := k.store.TrimUploadKeys(ctx, uploadKeysFor, trimKeys)
	if err != nil || n >= trimKeys {
		return chunkEvery, err
	}
	return trimEvery, nil
}

// reconciler looks at one chunk of the entries after the other.
func (k *Keeper) reconciler() chore {
	after := int64(0)
	return func(ctx context.Context) (time.Duration, error) {
		ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
		defer cancel()
		added, last, err := k.store.Reconcile(ctx, after, reconcileChunk)
		if err != nil {
			return chunkEvery, err
		}
		if added > 0 {
			k.options.Logger.LogAttrs(ctx, slog.LevelWarn, "entries had neither ticket, lease nor result; they wait", slog.Int("rows", added))
		}
		if after = last; last == 0 {
			return reconcileEvery, nil
		}
		return chunkEvery, nil
	}
}
