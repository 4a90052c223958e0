package seqcodec

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// sizes are documents as they are stored: a result of a genome with its aligned form
// and all proteins, an entry that is a genome, and one of a kilobyte. The dictionary is
// made of the same: the reference's proteins and the reference.
func hotDocuments(b *testing.B) (d Dictionary, documents map[string][]byte) {
	b.Helper()
	source := rand.New(rand.NewPCG(1, 2))
	reference := readFASTA(b, "sars-cov-2/reference.fasta")[0]
	genome := readFASTA(b, "sars-cov-2/nextclade-2021/sequences.fasta.zst")[0]
	proteins := make([]byte, len(reference)/3)
	for i := range proteins {
		proteins[i] = "ACDEFGHIKLMNPQRSTVWY"[source.IntN(20)]
	}
	changed := bytes.Clone(proteins)
	for range len(changed) / 1000 {
		changed[source.IntN(len(changed))] = 'X'
	}
	quoted := func(parts ...[]byte) []byte {
		document := []byte(`{"metadata":{"country":"Kenya","date":"2021-03-04"},"sequences":{`)
		for i, part := range parts {
			document = append(append(append(document, `"n`...), byte('0'+i), '"', ':', '"'), append(part, '"', ',')...)
		}
		return append(document, "}}"...)
	}
	return Dictionary{ID: 1, Bytes: append(append(append(bytes.Clone(proteins), '"'), reference...), '"')},
		map[string][]byte{
			"result": quoted(bytes.Clone(genome), append(bytes.Repeat([]byte("-"), 50), genome[50:]...), changed),
			"genome": quoted(bytes.Clone(genome)),
			"short":  quoted(bytes.Clone(genome[10_000:11_000])),
		}
}

var hotNames = []string{"result", "genome", "short"}

func BenchmarkEncodeDocument(b *testing.B) {
	d, documents := hotDocuments(b)
	for _, name := range hotNames {
		b.Run(name, func(b *testing.B) {
			codec, document := New(), documents[name]
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			stored := 0
			for b.Loop() {
				stored = len(encode(b, codec, d, document))
			}
			b.ReportMetric(float64(stored), "stored-B")
		})
	}
}

func BenchmarkDecodeDocument(b *testing.B) {
	d, documents := hotDocuments(b)
	for _, name := range hotNames {
		b.Run(name, func(b *testing.B) {
			codec := New()
			frame := encode(b, codec, d, documents[name])
			b.SetBytes(int64(len(documents[name])))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := codec.Decode(d, frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
