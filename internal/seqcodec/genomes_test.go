package seqcodec

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// readFASTA returns the sequences of a file under testdata, decompressed if its
// name ends in .zst.
func readFASTA(t testing.TB, name string) [][]byte {
	t.Helper()
	content, err := os.ReadFile("../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasSuffix([]byte(name), []byte(".zst")) {
		decoder, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer decoder.Close()
		if content, err = decoder.DecodeAll(content, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var sequences [][]byte
	for record := range bytes.SplitSeq(content, []byte(">")) {
		if _, lines, found := bytes.Cut(record, []byte("\n")); found {
			sequences = append(sequences, bytes.ToUpper(bytes.ReplaceAll(lines, []byte("\n"), nil)))
		}
	}
	return sequences
}

// A stored genome that differs from its reference as real ones do takes a few
// hundred bytes at most.
func TestRealGenomesTakeFewBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reference, genomes string
		count, median      int // how many genomes, and the most bytes that the median may take
	}{
		{"sars-cov-2/reference.fasta", "sars-cov-2/early-2020/sequences.fasta.zst", 293, 150},
		{"sars-cov-2/reference.fasta", "sars-cov-2/nextclade-2021/sequences.fasta.zst", 50, 600},
		{"sars-cov-2/reference.fasta", "sars-cov-2/nextclade-2024/sequences.fasta.zst", 115, 600},
		{"ebola-zaire/reference.fasta", "ebola-zaire/sequences.fasta.zst", 20, 1500},
	} {
		codec, d := New(), Dictionary{ID: 1, Bytes: readFASTA(t, c.reference)[0]}
		genomes := readFASTA(t, c.genomes)
		if got, want := len(genomes), c.count; got != want {
			t.Fatalf("%s: got %d genomes, want %d", c.genomes, got, want)
		}
		var sizes []int
		for _, genome := range genomes {
			frame := encode(t, codec, d, genome)
			wantDecoded(t, codec, d, frame, genome)
			sizes = append(sizes, len(frame))
		}
		slices.Sort(sizes)
		median := sizes[len(sizes)/2]
		t.Logf("%s: median %d bytes for each genome, largest %d", c.genomes, median, sizes[len(sizes)-1])
		if median > c.median {
			t.Errorf("%s: the median genome takes %d bytes, want at most %d", c.genomes, median, c.median)
		}
	}
}

func benchmarkGenomes(b *testing.B) (*Codec, Dictionary, [][]byte) {
	b.Helper()
	d := Dictionary{ID: 1, Bytes: readFASTA(b, "sars-cov-2/reference.fasta")[0]}
	genomes := readFASTA(b, "sars-cov-2/nextclade-2021/sequences.fasta.zst")
	b.ReportAllocs()
	b.SetBytes(int64(len(d.Bytes)))
	return New(), d, genomes
}

func BenchmarkEncode(b *testing.B) {
	codec, d, genomes := benchmarkGenomes(b)
	stored, n := 0, 0
	for b.Loop() {
		stored += len(encode(b, codec, d, genomes[n%len(genomes)]))
		n++
	}
	b.ReportMetric(float64(stored)/float64(n), "stored-B/genome")
}

func BenchmarkDecode(b *testing.B) {
	codec, d, genomes := benchmarkGenomes(b)
	frames := make([][]byte, len(genomes))
	for i, genome := range genomes {
		frames[i] = encode(b, codec, d, genome)
	}
	n := 0
	for b.Loop() {
		if _, err := codec.Decode(d, frames[n%len(frames)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func BenchmarkEncodeParallel(b *testing.B) {
	codec, d, genomes := benchmarkGenomes(b)
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			if _, err := codec.Encode(d, genomes[n%len(genomes)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
