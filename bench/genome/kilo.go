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
	rng := rand.New(rand.NewPCG(kiloLength, 1)) //nolint:gosec // reproducible on purpose
	reference := Random(rng, kiloLength)
	o := &organism.Organism{
		Key: Kilo, DisplayName: "Kilovirus", ConsensusSequences: true,
		Metadata: []organism.Field{{Name: "date", Type: organism.Date}, {Name: "country", Type: organism.String}, {Name: "division", Type: organism.String}},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: reference}},
	}
	samples := make([]Sample, n)
	for i := range samples {
		s := &samples[i]
		s.Metadata = map[string]string{
			"date": fmt.Sprintf("2021-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)), "country": "Kenya", "division": fmt.Sprintf("Division %d", rng.IntN(40)),
		}
		s.Sequence = Mutate(rng, reference, 0.01)
		s.Result = kiloResult(s)
	}
	return o, samples, nil
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
