package organism_test

import (
	"bytes"
	"testing"

	"github.com/seqlease/seqlease/internal/organism"
)

// The dictionary has the names of documents as these have them and all of the
// reference; it doesn't change from one call to the next, as its id depends on it.
func TestDictionary(t *testing.T) {
	t.Parallel()
	o := &organism.Organism{
		Key: "virus", DisplayName: "Virus", ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "date", Type: organism.Date},
			{Name: "country", Type: organism.String},
			{Name: "length", Type: organism.Int},
			{Name: "host", Type: organism.String},
			{Name: "complete", Type: organism.Boolean},
			{Name: "authors", Type: organism.Authors},
		},
		Segments: []organism.NamedSequence{{Name: "L", Sequence: "ACGTACGT"}, {Name: "S", Sequence: "TTTTCCCC"}},
		Genes:    []organism.NamedSequence{{Name: "G1", Sequence: "MKL*"}},
	}
	got := o.Dictionary()
	for _, want := range []string{
		`{"metadata":{"`, `","country":"","`, `"date":"20`, `"length":0}`, `"complete":true,`, `},"unalignedNucleotideSequences":{"L":"","S":""},"`,
		`"},"alignedNucleotideSequences":{"L":"`, `},"alignedAminoAcidSequences":{"G1":"`, `"files":null}`, `"errors":[],"warnings":[]}`,
		`MKL*"ACGTACGT"TTTTCCCC"`,
	} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("%q isn't in the dictionary %q", want, got)
		}
	}
	for range 20 {
		if again := o.Dictionary(); !bytes.Equal(again, got) {
			t.Fatalf("got %q, then %q", got, again)
		}
	}
	if got := (&organism.Organism{Key: "words", Metadata: o.Metadata}).Dictionary(); got != nil {
		t.Errorf("without a reference: got %q, want none", got)
	}
}
