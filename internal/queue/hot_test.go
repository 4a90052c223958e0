package queue

import (
	"crypto/sha256"
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

// resultOf has an unaligned sequence of the length and, if it is a genome, an aligned
// one and twelve genes of a third of it together.
func resultOf(length int, genome bool) *seqlease.Result {
	sequence := strings.Repeat("ACGTN", length/5+1)[:length]
	r := &seqlease.Result{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1},
		Data: seqlease.ProcessedData{
			Metadata: map[string]stdjson.RawMessage{
				"country": stdjson.RawMessage(`"Kenya"`), "date": stdjson.RawMessage(`"2021-03-04"`), "age": stdjson.RawMessage(`33`),
			},
			UnalignedNucleotideSequences: map[string]*string{"main": &sequence},
			AlignedNucleotideSequences:   map[string]*string{},
			NucleotideInsertions:         map[string][]seqlease.Insertion{},
			AlignedAminoAcidSequences:    map[string]*string{},
			AminoAcidInsertions:          map[string][]seqlease.Insertion{},
			SequenceNameToFastaID:        map[string]string{"main": "sample"},
		},
	}
	if genome {
		r.Data.AlignedNucleotideSequences["main"] = &sequence
		r.Data.NucleotideInsertions["main"] = []seqlease.Insertion{{Position: 20_000, Sequence: "ACG"}}
		for i := range 12 {
			protein := strings.Repeat("MKLVX", length/3/12/5)
			r.Data.AlignedAminoAcidSequences["gene"+string(rune('A'+i))] = &protein
		}
	}
	return r
}

// BenchmarkNormalForm is what each result costs between its check and its
// compression if it keeps the rules: looking for texts that can't be stored, the normal
// form and its digest.
func BenchmarkNormalForm(b *testing.B) {
	for _, tt := range []struct {
		name   string
		result *seqlease.Result
	}{{"genome", resultOf(29_903, true)}, {"short", resultOf(1000, false)}} {
		b.Run(tt.name, func(b *testing.B) {
			document, err := encode(nil, tt.result, true)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				if problems, _ := unstorableTexts(tt.result, true); len(problems) > 0 {
					b.Fatal("unstorable")
				}
				if document, err = encode(document[:0], tt.result, true); err != nil {
					b.Fatal(err)
				}
				_ = sha256.Sum256(document)
			}
		})
	}
}
