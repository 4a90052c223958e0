package genome

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

const bases = "ACGT"

// Random is a sequence of random bases.
func Random(rng *rand.Rand, length int) string {
	sequence := make([]byte, length)
	for i := range sequence {
		sequence[i] = bases[rng.IntN(len(bases))]
	}
	return string(sequence)
}

// Mutate replaces that share of the bases by others, at random places.
func Mutate(rng *rand.Rand, reference string, share float64) string {
	sequence := []byte(reference)
	for range int(share*float64(len(sequence)) + 0.5) {
		at := rng.IntN(len(sequence))
		for old := sequence[at]; sequence[at] == old; {
			sequence[at] = bases[rng.IntN(len(bases))]
		}
	}
	return string(sequence)
}

// Sample is a genome as it is uploaded, and its result without the names that an
// entry gets from the server.
type Sample struct {
	Metadata map[string]string
	Sequence string
	Result   seqlease.Result
}

// Generated makes genomes that differ from the reference in the given shares of
// their bases, in turn. The seed decides which.
func (v *Virus) Generated(ctx context.Context, seed uint64, n int, shares ...float64) ([]Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // reproducible on purpose
	samples := make([]Sample, n)
	for i := range samples {
		samples[i].Metadata = map[string]string{
			"date": fmt.Sprintf("2021-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)), "country": "Kenya", "division": fmt.Sprintf("Division %d", rng.IntN(40)),
		}
		samples[i].Sequence = Mutate(rng, v.Reference, shares[i%len(shares)])
		samples[i].Result = v.Process(ctx, samples[i].entry())
		if len(samples[i].Result.Errors) > 0 {
			return nil, fmt.Errorf("generated genome %d: %s", i, samples[i].Result.Errors[0].Message)
		}
	}
	return samples, nil
}

// entry is the sample as a pipeline gets it.
func (s *Sample) entry() seqlease.Entry {
	return seqlease.Entry{
		AccessionVersion: seqlease.AccessionVersion{Accession: "x", Version: 1},
		Data: seqlease.SubmittedData{
			Metadata: s.Metadata, UnalignedNucleotideSequences: map[string]string{organism.MainSegment: s.Sequence},
		},
	}
}
