package genome

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/pipeline"
)

// Virus is an organism with all that it takes to make results of its genomes. It
// may be used concurrently.
type Virus struct {
	Organism  *organism.Organism
	Reference string
	genes     []gene
	align     *pipeline.Align
	data      string // folder with the real genomes
}

// gene is where a gene lies on the reference: 1-based, inclusive.
type gene struct {
	name        string
	first, last int
}

// SARSCoV2 is the key of the organism with 30 kb genomes.
const SARSCoV2 seqlease.Organism = "sars-cov-2"

// NewSARSCoV2 reads the reference and its genes from the product's test data.
func NewSARSCoV2(ctx context.Context) (*Virus, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seqlease/seqlease").Output()
	if err != nil {
		return nil, fmt.Errorf("find the test data: %w", err)
	}
	v := &Virus{data: filepath.Join(string(bytes.TrimSpace(module)), "testdata", "sars-cov-2")}
	records, err := readFASTA(filepath.Join(v.data, "reference.fasta"))
	if err != nil {
		return nil, err
	}
	if v.genes, err = readGenes(filepath.Join(v.data, "genes.gff3")); err != nil {
		return nil, err
	}
	v.Reference = strings.ToUpper(records[0].sequence)
	v.Organism = &organism.Organism{
		Key: SARSCoV2, DisplayName: "SARS-CoV-2", ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "date", Type: organism.Date}, {Name: "country", Type: organism.String}, {Name: "division", Type: organism.String},
		},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: v.Reference}},
	}
	for _, g := range v.genes {
		v.Organism.Genes = append(v.Organism.Genes, organism.NamedSequence{Name: g.name, Sequence: translate(v.Reference[g.first-1 : g.last])})
	}
	v.align, err = pipeline.NewAlign(v.Organism)
	return v, err
}

// readGenes reads the features of the type gene, which have a gene_name each.
func readGenes(path string) ([]gene, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var genes []gene
	for line := range strings.Lines(string(content)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) != 9 || columns[2] != "gene" {
			continue
		}
		g := gene{name: strings.TrimPrefix(columns[8], "gene_name=")}
		var first, last error
		g.first, first = strconv.Atoi(columns[3])
		g.last, last = strconv.Atoi(columns[4])
		if first != nil || last != nil || (g.last-g.first+1)%3 != 0 {
			return nil, fmt.Errorf("%s: gene %s is at no whole codons", path, g.name)
		}
		genes = append(genes, g)
	}
	return genes, nil
}

// Process makes the result of an entry: the align pipeline's, and every gene of
// the aligned sequence.
func (v *Virus) Process(ctx context.Context, entry seqlease.Entry) seqlease.Result {
	result := v.align.Process(ctx, entry)
	aligned := result.Data.AlignedNucleotideSequences[organism.MainSegment]
	if aligned == nil {
		return result
	}
	for _, g := range v.genes {
		protein := translate((*aligned)[g.first-1 : g.last])
		result.Data.AlignedAminoAcidSequences[g.name] = &protein
	}
	return result
}
