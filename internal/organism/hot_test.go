package organism

import (
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

// BenchmarkCheckProcessed checks a result the size of a SARS-CoV-2 genome with all
// genes, and one of a kilobyte that isn't aligned.
func BenchmarkCheckProcessed(b *testing.B) {
	genome, protein := strings.Repeat("ACGTN", 6000), strings.Repeat("MKLVX", 2000)
	short := genome[:1000]
	o := &Organism{
		Key: "big", Metadata: reedvirus().Metadata,
		Segments: []NamedSequence{{MainSegment, genome}}, Genes: []NamedSequence{{"all", protein}},
	}
	for _, tt := range []struct {
		name                     string
		unaligned, aligned, gene *string
	}{{"genome", &genome, &genome, &protein}, {"short", &short, nil, nil}} {
		b.Run(tt.name, func(b *testing.B) {
			d := good()
			d.NucleotideInsertions, d.AminoAcidInsertions = nil, nil
			d.SequenceNameToFastaID = map[string]string{MainSegment: "x"}
			bytes := 0
			one := func(name string, sequence *string) map[string]*string {
				if sequence == nil {
					return map[string]*string{}
				}
				bytes += len(*sequence)
				return map[string]*string{name: sequence}
			}
			d.UnalignedNucleotideSequences = one(MainSegment, tt.unaligned)
			d.AlignedNucleotideSequences = one(MainSegment, tt.aligned)
			d.AlignedAminoAcidSequences = one("all", tt.gene)
			var problems []seqlease.Problem
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				problems, _ = o.CheckProcessed(d)
			}
			if len(problems) > 0 {
				b.Fatal(problems)
			}
		})
	}
}
