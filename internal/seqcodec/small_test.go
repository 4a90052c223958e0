package seqcodec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// smallDocument is an entry with a part of a genome.
func smallDocument(source *rand.Rand, genome []byte, size int) []byte {
	letters := genome[min(source.IntN(len(genome)), max(0, len(genome)-size)):]
	letters = letters[:min(size, len(letters))]
	return fmt.Appendf(nil, `{"metadata":{"date":"2021-%02d-%02d","country":"Kenya","division":"Division %d"},"unalignedNucleotideSequences":{"main":"%s"},"files":null}`,
		1+source.IntN(12), 1+source.IntN(28), source.IntN(40), letters)
}

// Small documents of real genomes, of anything else and of every size come back,
// and are the same bytes whatever was compressed before.
func TestSmallDocuments(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(1, 2))
	var documents [][]byte
	for _, name := range []string{"sars-cov-2/nextclade-2021/sequences.fasta.zst", "ebola-zaire/sequences.fasta.zst", "cchf/sequences.fasta"} {
		for _, genome := range readFASTA(t, name) {
			documents = append(documents, smallDocument(source, genome, 1+source.IntN(maxSmall-200)))
		}
	}
	random := make([]byte, maxSmall)
	for i := range random {
		random[i] = byte(source.Uint32())
	}
	for _, n := range []int{1, 2, 11, 12, 13, 14, 31, 32, 33, 255, 256, 257, 1023, 1024, 4095, 4096, maxSmall - 1, maxSmall, maxSmall + 1} {
		one, period := bytes.Repeat([]byte{'N'}, n), bytes.Repeat([]byte("ACGTNACG-"), n/9+1)[:n]
		documents = append(documents, one, period, append(bytes.Clone(random), random...)[:n])
	}
	reference := readFASTA(t, "sars-cov-2/reference.fasta")[0]
	for _, dictionary := range [][]byte{reference, reference[:wordLength], reference[:1], bytes.Repeat([]byte("A"), 5000)} {
		codec, d := New(), Dictionary{ID: 1, Bytes: dictionary}
		frames := make([][]byte, len(documents))
		for i, document := range documents {
			frames[i] = encode(t, codec, d, document)
			wantDecoded(t, codec, d, frames[i], document)
		}
		for i := len(documents) - 1; i >= 0; i-- {
			if again := encode(t, codec, d, documents[i]); !bytes.Equal(again, frames[i]) {
				t.Errorf("document %d: other bytes the second time", i)
			}
		}
	}
}

// A bit that changed anywhere in a small frame is an error or, where the format
// doesn't use it, changes nothing.
func TestDamagedSmallFrame(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(3, 4))
	reference := readFASTA(t, "sars-cov-2/reference.fasta")[0]
	document := smallDocument(source, reference, 1000)
	codec, d := New(), Dictionary{ID: 1, Bytes: reference}
	frame := encode(t, codec, d, document)
	for i := range 8 * len(frame) {
		damaged := bytes.Clone(frame)
		damaged[i/8] ^= 1 << (i % 8)
		if got, err := codec.Decode(d, damaged); err == nil && !bytes.Equal(got, document) {
			t.Errorf("bit %d: got another document", i)
		}
	}
}

// Small documents take about what the library's encoder makes of them, 135 bytes,
// also against a dictionary without their names.
func TestSmallDocumentsTakeFewBytes(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(5, 6))
	codec, d := New(), Dictionary{ID: 1, Bytes: readFASTA(t, "sars-cov-2/reference.fasta")[0]}
	total, genomes := 0, readFASTA(t, "sars-cov-2/nextclade-2021/sequences.fasta.zst")
	for _, genome := range genomes {
		total += len(encode(t, codec, d, smallDocument(source, genome[300:29000], 1000)))
	}
	mean := total / len(genomes)
	t.Logf("%d bytes for each entry of 1 kB", mean)
	if limit := 150; mean > limit {
		t.Errorf("an entry of 1 kB takes %d bytes, want at most %d", mean, limit)
	}
}

// What the library can't read back is compressed by the library.
func TestSmallDocuments_OnlyWhatIsReadBackCounts(t *testing.T) {
	t.Parallel()
	reference := readFASTA(t, "sars-cov-2/reference.fasta")[0]
	wrong := bytes.Clone(reference)
	slices.Reverse(wrong)
	document := smallDocument(rand.New(rand.NewPCG(7, 8)), reference[500:], 1000)
	codec, d := New(), Dictionary{ID: 1, Bytes: reference}
	good := encode(t, codec, d, document)
	codec.coders(d).index = func() *index { return newIndex(append(bytes.Clone(reference[1:]), wrong[0])) } // all words lie one off
	bad := encode(t, codec, d, document)
	if bytes.Equal(good, bad) {
		t.Error("the index doesn't matter: this test shows nothing")
	}
	wantDecoded(t, codec, d, bad, document)
}

func FuzzSmall(f *testing.F) {
	f.Add([]byte("ACGTACGTACGTACGTACGT"), []byte("TTACGTACGTACGTACCT"))
	f.Add([]byte("A"), bytes.Repeat([]byte("abcdefg"), 100))
	f.Fuzz(func(t *testing.T, dictionary, document []byte) {
		if len(dictionary) == 0 || len(document) == 0 || len(document) > maxSmall {
			t.Skip()
		}
		codec, d := New(), Dictionary{ID: 1, Bytes: dictionary}
		wantDecoded(t, codec, d, encode(t, codec, d, document), document)
	})
}
