package intake

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease/internal/spool"
)

// genomes returns an upload of real genomes, repeated under other ids to the given number.
func genomes(tb testing.TB, n int) (metadata, sequences []byte) {
	tb.Helper()
	compressed, err := os.ReadFile(filepath.Join(testdata, "sars-cov-2/early-2020/sequences.fasta.zst"))
	if err != nil {
		tb.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		tb.Fatal(err)
	}
	records := strings.Split(string(plain), ">")[1:]
	var table, fasta bytes.Buffer
	table.WriteString("id\tdate\tcountry\n")
	for i := range n {
		_, letters, _ := strings.Cut(records[i%len(records)], "\n")
		fmt.Fprintf(&table, "genome/%06d/2020\t2020-03-01\tSwitzerland\n", i)
		fmt.Fprintf(&fasta, ">genome/%06d/2020\n%s", i, letters)
	}
	return table.Bytes(), fasta.Bytes()
}

func BenchmarkCheckGenomes(b *testing.B) {
	o := reference(b, "sars-cov-2", "sars-cov-2/reference.fasta")
	table, fasta := genomes(b, 1000)
	r := Request{Organism: o, Metadata: inMemory("m.tsv", table), Sequences: inMemory("s.fasta", fasta), Spool: spool.NewDir(b.TempDir(), 0)}
	b.SetBytes(int64(len(table) + len(fasta)))
	b.ReportAllocs()
	for b.Loop() {
		c, err := Check(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEntriesGenomes(b *testing.B) {
	o := reference(b, "sars-cov-2", "sars-cov-2/reference.fasta")
	table, fasta := genomes(b, 1000)
	c, err := check(b, Request{Organism: o, Metadata: inMemory("m.tsv", table), Sequences: inMemory("s.fasta", fasta)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(table) + len(fasta)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range c.Entries() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCheckShort has 100,000 short records: the cost of a record.
func BenchmarkCheckShort(b *testing.B) {
	const n = 100_000
	var table, fasta bytes.Buffer
	table.WriteString("id\tdate\tcountry\n")
	for i := range n {
		fmt.Fprintf(&table, "entry/%07d\t2020-03-01\tSwitzerland\n", i)
		fmt.Fprintf(&fasta, ">entry/%07d\n%s\n", i, strings.Repeat("ACGT", 50))
	}
	r := Request{Organism: zika(b), Metadata: inMemory("m.tsv", table.Bytes()), Sequences: inMemory("s.fasta", fasta.Bytes()), Spool: spool.NewDir(b.TempDir(), 0)}
	b.SetBytes(int64(table.Len() + fasta.Len()))
	b.ReportAllocs()
	for b.Loop() {
		c, err := Check(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
