package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// tidy sweeps and quarantines all there is.
func (k *Keeper) tidy(ctx context.Context) (time.Duration, error) {
	swept, sweepErr := k.sweep(ctx)
	quarantined, quarantineErr := k.quarantine(ctx)
	if swept > 0 {
		k.options.Logger.LogAttrs(ctx, slog.LevelDebug, "ended leases swept", slog.Int("leases", swept))
	}
	if quarantined > 0 {
		k.options.Logger.LogAttrs(ctx, slog.LevelInfo, "entries quarantined", slog.Int("rows", quarantined))
	}
	return tidyEvery, errors.Join(sweepErr, quarantineErr)
}

// sweep ends the leases that have run out, a few in each transaction.
func (k *Keeper) sweep(ctx context.Context) (total int, err error) {
	for {
		n, err := k.sweepSome(ctx)
		total += n
		if err != nil || n < sweepLeases {
			return total, err
		}
	}
}

func (k *Keeper) sweepSome(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	n, ended, err := k.store.Sweep(ctx, sweepLeases)
	if len(ended) > 0 && k.options.Ended != nil {
		k.options.Ended(ended)
	}
	return n, err
}

// quarantine ends every ticket that is used up. One that can't be ended here, such
// as of an organism that only another server knows, doesn't hide those behind it:
// if a page had nothing but such tickets, a larger one is read.
func (k *Keeper) quarantine(ctx context.Context) (total int, err error) {
	for limit := quarantineChunk; ; {
		tickets, err := k.spent(ctx, limit)
		if err != nil {
			return total, err
		}
		n, fault := k.endTickets(ctx, tickets)
		total += n
		switch {
		case len(tickets) < limit || n == 0 && limit >= maxSpent || ctx.Err() != nil:
			return total, fault
		case n == 0:
			limit *= 4
		}
	}
}

func (k *Keeper) spent(ctx context.Context, limit int) ([]SpentTicket, error) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	return k.store.Spent(ctx, limit)
}

// endTickets writes the verdicts on a page of tickets, in parts.
func (k *Keeper) endTickets(ctx context.Context, tickets []SpentTicket) (total int, err error) {
	var faults []error
	for part := range slices.Chunk(tickets, quarantineChunk) {
		var verdicts []Verdict
		for _, t := range part {
			v := Verdict{SpentTicket: t, Reason: verdictOn(t, k.options.Retry)}
			if v.Result, err = packVerdict(k.store, t.Organism, v.Reason); err != nil {
				faults = append(faults, fmt.Errorf("verdict on %s of %s: %w", t.AccessionVersion, t.Organism, err))
				continue
			}
			verdicts = append(verdicts, v)
		}
		if len(verdicts) == 0 {
			continue
		}
		n, err := k.endSome(ctx, verdicts)
		total += n
		if err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return total, fmt.Errorf("%s; the first: %w", times(len(faults), "fault"), faults[0])
	}
	return total, nil
}

func (k *Keeper) endSome(ctx context.Context, verdicts []Verdict) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	return k.store.Quarantine(ctx, verdicts)
}
