package drain

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/bench/measure"
)

const (
	// Claimers is how many workers claim at once.
	Claimers = 64
	// Batch is how many entries a claim asks for.
	Batch = 100
	// Connections is the pool's size of every contender.
	Connections = 16
)

// runTimeout bounds a run of a contender: one that comes to nothing ends with an error.
const runTimeout = 15 * time.Minute

// Work is what every contender of an experiment does.
type Work struct {
	Entries int // that wait
	Entry   int // bytes of each entry's document
	Result  int // bytes of each result
}

// keyBytes at the start of a document or a result are the entry's number, so that
// it can be told whose it is.
const keyBytes = 8

// noise is what documents are cut from: nothing compresses them.
var noise = sync.OnceValue(func() []byte {
	b := make([]byte, 1<<20)
	_, _ = rand.Read(b) // never fails
	return b
})

// document returns size bytes for the entry with the number, which begin with it.
func document(number int64, size int) []byte {
	b := make([]byte, size)
	from := noise()
	copy(b, from[int(number*127%int64(len(from)-size)):])
	binary.BigEndian.PutUint64(b, uint64(number))
	return b
}

// numberOf is the number that a document begins with.
func numberOf(document []byte) (int64, error) {
	if len(document) < keyBytes {
		return 0, fmt.Errorf("a claimed document has %d bytes", len(document))
	}
	return int64(binary.BigEndian.Uint64(document)), nil
}

// design is a way to keep a queue, with the results beside it.
type design interface {
	// fill makes entries wait, with the numbers first to first+n-1.
	fill(ctx context.Context, first int64, n int) error
	// step claims a batch and stores its results. It returns the numbers of the
	// entries; none if nothing was to be had.
	step(ctx context.Context) ([]int64, error)
	// check returns an error unless there are exactly the results of the entries
	// with the numbers 1 to done, each its own, and left entries wait.
	check(ctx context.Context, done, left int) error
	// tidy vacuums and analyses what was filled in.
	tidy(ctx context.Context) error
	// wal is how many bytes of log the server has written.
	wal(ctx context.Context) (int64, error)
	processorTime(ctx context.Context) (took time.Duration, known bool, err error)
	close()
}

// completion is a batch whose results were stored.
type completion struct {
	at      time.Duration // since the drain began
	entries int
}

// drained says how a drain went.
type drained struct {
	took        time.Duration
	completions []completion // in order of time
	numbers     []int64      // of the entries
	empty       int          // claims that got nothing

	walFill, walDrain int64         // bytes of log
	processor         time.Duration // of the server and this process during the drain; 0: unknown
}

// rate is in entries per second.
func (d *drained) rate() float64 { return float64(len(d.numbers)) / d.took.Seconds() }

// drain lets the claimers step for as long as more says so, told how many entries
// were had so far and whether the last step of this claimer had any.
func drain(ctx context.Context, q design, more func(had int, last bool) bool) (*drained, error) {
	var d drained
	var mu sync.Mutex
	began := time.Now()
	workers, ctx := errgroup.WithContext(ctx)
	for range Claimers {
		workers.Go(func() error {
			for last := true; ; {
				mu.Lock()
				goOn := more(len(d.numbers), last)
				mu.Unlock()
				if !goOn {
					return nil
				}
				numbers, err := q.step(ctx)
				if err != nil {
					return err
				}
				last = len(numbers) > 0
				mu.Lock()
				if last {
					d.completions = append(d.completions, completion{time.Since(began), len(numbers)})
					d.numbers = append(d.numbers, numbers...)
				} else {
					d.empty++
				}
				mu.Unlock()
			}
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	d.took = time.Since(began)
	return &d, nil
}

// untilEmpty ends a claimer with the first claim that gets nothing.
func untilEmpty(_ int, last bool) bool { return last }

// untilDone ends a drain once all entries were had: a claim that gets nothing
// says little where claims race.
func untilDone(entries int) func(int, bool) bool {
	return func(had int, _ bool) bool { return had < entries }
}

// steps ends a drain after that many steps.
func steps(n int) func(int, bool) bool {
	return func(int, bool) bool {
		n--
		return n >= 0
	}
}

// eachOnce returns an error unless the numbers are 1 to n, each once.
func eachOnce(numbers []int64, n int) error {
	sorted := slices.Sorted(slices.Values(numbers))
	if len(sorted) != n {
		return fmt.Errorf("%d entries were answered, want %d", len(sorted), n)
	}
	for i, number := range sorted {
		if number != int64(i)+1 {
			return fmt.Errorf("entry %d was answered in place of entry %d: some are lost, others had twice", number, i+1)
		}
	}
	return nil
}

// tenths returns the rates of the first and the last tenth of the batches, in
// entries per second: the beginning, when every claimer claims and none has
// anything to store, and the end, when fewer and fewer have work, are left out.
func (d *drained) tenths() (first, last float64, enough bool) {
	n := len(d.completions)
	edge, width := min(Claimers, n/10), n/10
	if edge < 1 || width < 1 {
		return 0, 0, false
	}
	return d.between(edge, edge+width), d.between(n-edge-width, n-edge), true
}

// between is the rate from one completion to another one, by their numbers.
func (d *drained) between(from, to int) float64 {
	entries := 0
	for _, c := range d.completions[from:to] {
		entries += c.entries
	}
	return float64(entries) / (d.completions[to-1].at - d.completions[from-1].at).Seconds()
}

// The figures of a drain, beside [measure.Rate].
const (
	figureClaims    = "claims"       // that returned entries, to the least possible number
	figureEmpty     = "empty"        // claims that got nothing, to those that got something
	figureWAL       = "wal"          // bytes for each entry beyond its result, claim to result
	figureEnqueue   = "wal enqueue"  // bytes for each entry beyond its document, until it waits
	figureProcessor = "processor µs" // for each entry, of the server and this process
	figureTenths    = "last/first"   // rate of the last tenth to that of the first
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
		figureProcessor: float64(d.processor.Microseconds()) / n,
		figureClaims:    float64(len(d.completions)) / math.Ceil(n/Batch), figureEmpty: float64(d.empty) / float64(len(d.completions)),
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
	before, known, err := q.processorTime(ctx)
	if err != nil {
		return nil, err
	}
	d, err := drain(ctx, q, more)
	if err != nil {
		return nil, err
	}
	if after, _, err := q.processorTime(ctx); err != nil {
		return nil, err
	} else if known {
		d.processor = after - before
	}
	walAfter, err := q.wal(ctx)
	d.walDrain = walAfter - walBefore
	return d, err
}
