package align

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkNewIndex(b *testing.B) {
	reference := randomBases(rand.New(rand.NewPCG(9, 1)), 30_000, "ACGT")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewIndex(reference); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAlign(b *testing.B) {
	for _, rate := range divergences {
		b.Run(fmt.Sprintf("30kb/%g%%", 100*rate), func(b *testing.B) {
			r := rand.New(rand.NewPCG(10, 1))
			reference := randomBases(r, 30_000, "ACGT")
			benchmarkAlign(b, reference, mutated(r, reference, rate))
		})
	}
	b.Run("30kb/deletion of 3000", func(b *testing.B) {
		r := rand.New(rand.NewPCG(11, 1))
		reference := randomBases(r, 30_000, "ACGT")
		benchmarkAlign(b, reference, mutated(r, join(reference[:10_000], reference[13_000:]), 0.01))
	})
	b.Run("cchf M", func(b *testing.B) {
		_, references := readFASTA(b, "cchf", "reference_M.fasta")
		ids, sequences := readFASTA(b, "cchf", "sequences.fasta")
		for i, id := range ids {
			if id == "YNDQ-L415G/2021-04-15/China_M" {
				benchmarkAlign(b, references[0], sequences[i])
			}
		}
	})
}

func benchmarkAlign(b *testing.B, reference, query []byte) {
	a := newAligner(b, reference)
	b.SetBytes(int64(len(query)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Align(query); err != nil {
			b.Fatal(err)
		}
	}
}
