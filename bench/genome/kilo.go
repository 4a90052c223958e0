package genome

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// Kilo is the key of the organism with small genomes: a claimed line and a line of
// results have about a kilobyte each.
const Kilo seqlease.Organism = "kilovirus"

// kiloLength is the length of the reference in bases.
const kiloLength = 600

// NewKilo makes the organism and n of its genomes, 1 % from the reference.
func NewKilo(n int) (*organism.Organism, []Sample, error) {
	o, samples := kilo(n, kiloLength, func(rng *rand.Rand) string { return fmt.Sprintf("Division %d", rng.IntN(40)) })
	return o, samples, nil
}

// What is stored of an opaque entry or result is a kilobyte: text of that length, of 64
// letters at random, and a short sequence. Compressed it is some tenth shorter than its letters and the names around them.
const (
	opaqueText   = 1120
	opaqueLength = 60
)

// NewOpaque makes the same organism with a shorter reference and n entries that are
// mostly text that hardly anything compresses.
func NewOpaque(n int) (*organism.Organism, []Sample, error) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	o, samples := kilo(n, opaqueLength, func(rng *rand.Rand) string {
		text := make([]byte, opaqueText)
		for i := range text {
			text[i] = digits[rng.IntN(len(digits))]
		}
		return string(text)
	})
	return o, samples, nil
}

// kilo makes the organism with a reference of that length, and n of its genomes.
func kilo(n, length int, division func(*rand.Rand) string) (*organism.Organism, []Sample) {
	rng := rand.New(rand.NewPCG(kiloLength, 1)) //nolint:gosec // reproducible on purpose
	reference := Random(rng, length)
	o := &organism.Organism{
		Key: Kilo, DisplayName: "Kilovirus", ConsensusSequences: true,
		Metadata: []organism.Field{{Name: "date", Type: organism.Date}, {Name: "country", Type: organism.String}, {Name: "division", Type: organism.String}},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: reference}},
	}
	samples := make([]Sample, n)
	for i := range samples {
		s := &samples[i]
		s.Metadata = map[string]string{
			"date": fmt.Sprintf("2021-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)), "country": "Kenya", "division": division(rng),
		}
		s.Sequence = Mutate(rng, reference, 0.01)
		s.Result = kiloResult(s)
	}
	return o, samples
}

// kiloResult is a result with the sequence as it came, which makes it as long as
// the entry.
func kiloResult(s *Sample) seqlease.Result {
	r := seqlease.Result{
		Data: seqlease.ProcessedData{
			Metadata:                     map[string]json.RawMessage{},
			UnalignedNucleotideSequences: map[string]*string{organism.MainSegment: &s.Sequence},
			AlignedNucleotideSequences:   map[string]*string{organism.MainSegment: nil},
			NucleotideInsertions:         map[string][]seqlease.Insertion{},
			AlignedAminoAcidSequences:    map[string]*string{},
			AminoAcidInsertions:          map[string][]seqlease.Insertion{},
			SequenceNameToFastaID:        map[string]string{organism.MainSegment: organism.MainSegment},
		},
		Errors: []seqlease.Annotation{}, Warnings: []seqlease.Annotation{},
	}
	for name, value := range s.Metadata {
		r.Data.Metadata[name] = json.RawMessage(strconv.Quote(value))
	}
	return r
}
