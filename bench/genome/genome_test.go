package genome

import (
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/organism"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	for codons, want := range map[string]string{
		"ATGTTTGTTTAA": "MFV*", "TGGCTTAGCGGG": "WLSG", "---A--ANG": "-XX", "ATGAT": "M", "": "",
	} {
		if got := translate(codons); got != want {
			t.Errorf("%s: got %q, want %q", codons, got, want)
		}
	}
}

// TestSARSCoV2: genes begin with methionine and end with their only stop, except
// that a ribosomal slip is where ORF1a ends and ORF1b begins.
func TestSARSCoV2(t *testing.T) {
	t.Parallel()
	v, err := NewSARSCoV2(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Reference) != 29903 || len(v.Organism.Genes) != 12 {
		t.Errorf("the reference has %d bases and %d genes", len(v.Reference), len(v.Organism.Genes))
	}
	for _, g := range v.Organism.Genes {
		first, stop := g.Sequence[0] == 'M', strings.Index(g.Sequence, "*")
		if first != (g.Name != "ORF1b") || g.Name != "ORF1a" && stop != len(g.Sequence)-1 || g.Name == "ORF1a" && stop >= 0 {
			t.Errorf("%s: %.5s…, the first stop at %d of %d", g.Name, g.Sequence, stop, len(g.Sequence))
		}
	}
	if faults := v.Organism.Check(); faults != nil {
		t.Error(faults)
	}
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	v, err := NewSARSCoV2(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	samples, err := v.Generated(t.Context(), 1, 4, 0.001, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		differences := 0
		for at := range s.Sequence {
			if s.Sequence[at] != v.Reference[at] {
				differences++
			}
		}
		least, most := 25, 30
		if i%2 == 1 {
			least, most = 280, 300
		}
		if differences < least || differences > most { // some places are drawn twice
			t.Errorf("genome %d differs in %d bases", i, differences)
		}
		if problems, _ := v.Organism.CheckProcessed(&s.Result.Data); len(problems) > 0 {
			t.Errorf("genome %d: %v", i, problems)
		}
		if got := len(s.Result.Data.AlignedAminoAcidSequences); got != 12 {
			t.Errorf("genome %d has %d genes", i, got)
		}
	}
}

func TestRealGenomes(t *testing.T) {
	t.Parallel()
	v, err := NewSARSCoV2(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	samples, err := v.Real(t.Context(), SmallSet)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		if len(s.Sequence) < 28_000 || s.Metadata["country"] == "" || s.Result.Data.AlignedNucleotideSequences[organism.MainSegment] == nil {
			t.Errorf("genome %d: %d bases, %v", i, len(s.Sequence), s.Metadata)
		}
	}
	if len(samples) != 10 {
		t.Errorf("%d genomes", len(samples))
	}
}
