package httpapi

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
)

// The sizes of SARS-CoV-2: its genome and the proteins of its twelve genes.
const genomeLength = 29_903

var geneLengths = map[string]int{
	"E": 76, "M": 223, "N": 420, "ORF1a": 4401, "ORF1b": 2696, "ORF3a": 276,
	"ORF6": 62, "ORF7a": 122, "ORF7b": 44, "ORF8": 122, "ORF9b": 98, "S": 1274,
}

// draw returns random letters of an alphabet, the same for the same source.
func draw(source *rand.Rand, alphabet string, length int) string {
	b := make([]byte, length)
	for i := range b {
		b[i] = alphabet[source.IntN(len(alphabet))]
	}
	return string(b)
}

// mutated changes one letter of a thousand, at least one.
func mutated(source *rand.Rand, alphabet, sequence string) string {
	b := []byte(sequence)
	for range 1 + len(b)/1000 {
		b[source.IntN(len(b))] = alphabet[source.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	nucleotides = "ACGT"
	amino       = "ACDEFGHIKLMNPQRSTVWY"
)

// coronavirus is an organism of the size of SARS-CoV-2.
func coronavirus() *organism.Organism {
	source := rand.New(rand.NewPCG(1, 2))
	o := &organism.Organism{
		Key: "corona", DisplayName: "Coronavirus", ConsensusSequences: true,
		Metadata: []organism.Field{{Name: "country", Type: organism.String}, {Name: "date", Type: organism.Date}, {Name: "age", Type: organism.Int}},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: draw(source, nucleotides, genomeLength)}},
	}
	for _, gene := range []string{"E", "M", "N", "ORF1a", "ORF1b", "ORF3a", "ORF6", "ORF7a", "ORF7b", "ORF8", "ORF9b", "S"} {
		o.Genes = append(o.Genes, organism.NamedSequence{Name: gene, Sequence: draw(source, amino, geneLengths[gene])})
	}
	return o
}

// size is one of the two sizes of entries that are measured.
type size struct {
	name   string
	genome bool // of 30 kb, aligned and with all genes; else an unaligned sequence of a kilobyte
}

var sizes = []size{{"genome", true}, {"short", false}}

// submitted is the document of an entry as it is stored.
func (s size) submitted(tb testing.TB, o *organism.Organism) []byte {
	tb.Helper()
	sequence := mutated(rand.New(rand.NewPCG(3, 4)), nucleotides, o.Segments[0].Sequence)
	if !s.genome {
		sequence = sequence[:1000]
	}
	document, err := json.Marshal(seqlease.SubmittedData{
		Metadata:                     map[string]string{"country": "Kenya", "date": "2021-03-04", "age": "33"},
		UnalignedNucleotideSequences: map[string]string{"sample": sequence},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return document
}

// resultLine is the line of a result of such an entry.
func (s size) resultLine(tb testing.TB, o *organism.Organism) []byte {
	tb.Helper()
	source := rand.New(rand.NewPCG(5, 6))
	sequence := mutated(source, nucleotides, o.Segments[0].Sequence)
	data := seqlease.ProcessedData{
		Metadata: map[string]json.RawMessage{
			"country": json.RawMessage(`"Kenya"`), "date": json.RawMessage(`"2021-03-04"`), "age": json.RawMessage(`33`),
		},
		UnalignedNucleotideSequences: map[string]*string{}, AlignedNucleotideSequences: map[string]*string{},
		NucleotideInsertions: map[string][]seqlease.Insertion{}, AlignedAminoAcidSequences: map[string]*string{},
		AminoAcidInsertions:   map[string][]seqlease.Insertion{},
		SequenceNameToFastaID: map[string]string{organism.MainSegment: "sample"}, Files: seqlease.Files{},
	}
	if s.genome {
		unaligned := sequence[50:20_000] + "ACG" + sequence[20_000:]
		aligned := strings.Repeat("-", 50) + sequence[50:]
		data.UnalignedNucleotideSequences[organism.MainSegment] = &unaligned
		data.AlignedNucleotideSequences[organism.MainSegment] = &aligned
		data.NucleotideInsertions[organism.MainSegment] = []seqlease.Insertion{{Position: 20_000, Sequence: "ACG"}}
		for _, gene := range o.Genes {
			protein := mutated(source, amino, gene.Sequence)
			data.AlignedAminoAcidSequences[gene.Name] = &protein
		}
	} else {
		short := sequence[:1000]
		data.UnalignedNucleotideSequences[organism.MainSegment] = &short
	}
	id, err := seqlease.ParseAttemptID(attemptText)
	if err != nil {
		tb.Fatal(err)
	}
	line, err := json.Marshal(seqlease.Result{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1}, AttemptID: id,
		Data: data, Errors: []seqlease.Annotation{}, Warnings: []seqlease.Annotation{},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return line
}

// claimed is a lease with that entry.
func claimed(document []byte) (queue.Lease, queue.Entry) {
	return queue.Lease{AttemptID: seqlease.NewAttemptID(), Until: time.Unix(1767225600, 0), Lease: time.Minute},
		queue.Entry{Data: document, ClaimedEntry: queue.ClaimedEntry{
			AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1},
			SubmissionID:     "sample", Submitter: "anna", GroupID: 1, Attempt: 1,
		}}
}
