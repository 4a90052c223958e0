package drain

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
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
	processorTime(ctx context.Context) (processorTime, error)
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

	walFill, walDrain int64 // bytes of log
	processor         processorTime
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
