package intake

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/spool"
)

// generated is a file that exists only while it is read.
func generated(name, head string, n int, line func(i int) string) *File {
	return &File{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(&generator{rest: head, n: n, line: line}), nil
	}}
}

type generator struct {
	rest string
	i, n int
	line func(i int) string
}

func (g *generator) Read(p []byte) (int, error) {
	if g.rest == "" {
		if g.i == g.n {
			return 0, io.EOF
		}
		g.rest = g.line(g.i)
		g.i++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// peakHeap runs f and returns by how many bytes the live heap grew at most, as
// seen between garbage collections.
func peakHeap(f func(sample func())) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, m.HeapAlloc
	f(func() {
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	})
	return peak - before
}

// Not parallel: it measures the heap of the whole process.
func TestMemoryIsBounded(t *testing.T) {
	const rows, genome = 20_000, 6_000
	letters := strings.Repeat("ACGTTGCAAC", genome/10)
	var sample func()
	r := Request{
		Organism: zika(t), Spool: spool.NewDir(t.TempDir(), 0),
		Metadata: generated("m.tsv", "id\tcountry\n", rows, func(i int) string { return fmt.Sprintf("entry%d\tSwitzerland\n", i) }),
		Sequences: generated("s.fasta", "", rows, func(i int) string {
			if i%500 == 0 {
				sample()
			}
			return fmt.Sprintf(">entry%d\n%s\n", i, letters)
		}),
	}
	var checked *Checked
	got := peakHeap(func(s func()) {
		sample = s
		var err error
		if checked, err = Check(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = checked.Close() })
	if want := uint64(48 << 20); got > want {
		t.Errorf("120 MB of sequences took %d MiB of heap, want at most %d MiB", got>>20, want>>20)
	}
	t.Logf("heap grew by %d MiB", got>>20)
	n := 0
	for e, err := range checked.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"metadata":{"country":"Switzerland"},"unalignedNucleotideSequences":{"entry%d":"%s"},"files":null}`, n, letters)
		if string(e.Data) != want || e.SubmissionID != fmt.Sprint("entry", n) {
			t.Fatalf("entry %d is %q: %.80s", n, e.SubmissionID, e.Data)
		}
		n++
	}
	if n != rows || checked.Len() != rows {
		t.Errorf("%d entries, Len %d, want %d", n, checked.Len(), rows)
	}
}
