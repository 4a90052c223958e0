package drain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seqlease/seqlease/bench/measure"
)

// The figures of a drain, beside [measure.Rate].
const (
	figureClaims  = "claims"      // that returned entries, to the least possible number
	figureEmpty   = "empty"       // claims that got nothing, to those that got something
	figureWAL     = "wal"         // bytes for each entry beyond its result, claim to result
	figureEnqueue = "wal enqueue" // bytes for each entry beyond its document, until it waits
	figureServer  = "server µs"   // processor time for each entry
	figureClient  = "client µs"   // the same of this process
	figureTenths  = "last/first"  // rate of the last tenth to that of the first
)

// warmUp is how many entries are drained before anything is measured, so that
// connections are there and statements are planned.
const warmUp = Claimers * Batch

// quickly is the work of a quick bench.
func (w Work) quickly(b *measure.Bench) Work {
	w.Entries = min(w.Entries, b.Size(w.Entries, quickEntries))
	return w
}

// quickEntries is how many entries wait in a quick bench.
const quickEntries = 3000

// run drains a few entries to warm up, fills the queue, drains it and checks what
// became of all of them. races says that claims which get nothing say little.
func run(ctx context.Context, b *measure.Bench, q design, w Work, races bool) (measure.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	warm := b.Size(warmUp, warmUp/8)
	first, err := fillAndDrain(ctx, q, 1, warm, races)
	if err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	d, err := fillAndDrain(ctx, q, int64(warm)+1, w.Entries, races)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(first.numbers, d.numbers)
	if err := errors.Join(eachOnce(all, len(all)), q.check(ctx, warm+w.Entries, 0)); err != nil {
		return nil, err
	}
	n := float64(w.Entries)
	s := measure.Sample{
		measure.Rate: d.rate(), figureWAL: float64(d.walDrain)/n - float64(w.Result), figureEnqueue: float64(d.walFill)/n - float64(w.Entry),
		figureServer: float64(d.processor.server.Microseconds()) / n, figureClient: float64(d.processor.client.Microseconds()) / n,
		figureClaims: float64(len(d.completions)) / math.Ceil(n/Batch), figureEmpty: float64(d.empty) / float64(len(d.completions)),
	}
	if first, last, enough := d.tenths(); enough {
		s[figureTenths] = last / first
	}
	return s, nil
}

// fillAndDrain makes n entries wait, with the numbers from first on, and drains them.
func fillAndDrain(ctx context.Context, q design, first int64, n int, races bool) (*drained, error) {
	more := untilEmpty
	if races {
		more = untilDone(n)
	}
	before, err := q.wal(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.fill(ctx, first, n); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	filled, err := q.wal(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.tidy(ctx); err != nil {
		return nil, err
	}
	d, err := drainObserved(ctx, q, more)
	if err != nil {
		return nil, err
	}
	if len(d.numbers) != n {
		return nil, fmt.Errorf("%d entries were drained of %d", len(d.numbers), n)
	}
	d.walFill = filled - before
	return d, nil
}

// drainObserved also notes what the drain took of log and processor.
func drainObserved(ctx context.Context, q design, more func(int, bool) bool) (*drained, error) {
	walBefore, err := q.wal(ctx)
	if err != nil {
		return nil, err
	}
	before, err := q.processorTime(ctx)
	if err != nil {
		return nil, err
	}
	d, err := drain(ctx, q, more)
	if err != nil {
		return nil, err
	}
	after, err := q.processorTime(ctx)
	if err != nil {
		return nil, err
	}
	d.processor = after.since(before)
	walAfter, err := q.wal(ctx)
	d.walDrain = walAfter - walBefore
	return d, err
}
