package pipeline

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// readFile reads a file of ../../testdata, the one that ends in .zst if there is
// no other.
func readFile(t testing.TB, path ...string) string {
	t.Helper()
	name := filepath.Join("..", "..", "testdata", filepath.Join(path...))
	text, err := os.ReadFile(name)
	if err == nil {
		return string(text)
	}
	packed, err := os.ReadFile(name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if text, err = io.ReadAll(reader); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readFASTA returns the records of a file, as they stand there, and their order.
func readFASTA(t testing.TB, path ...string) (ids []string, sequences map[string]string) {
	t.Helper()
	sequences = map[string]string{}
	for _, record := range strings.Split(readFile(t, path...), ">")[1:] {
		header, lines, _ := strings.Cut(record, "\n")
		id := strings.Fields(header)[0]
		ids = append(ids, id)
		sequences[id] = strings.ReplaceAll(lines, "\n", "")
	}
	return ids, sequences
}

// readEntries returns the entries of a folder with metadata.tsv and sequences.fasta.
func readEntries(t testing.TB, folder string) []seqlease.Entry {
	t.Helper()
	_, sequences := readFASTA(t, folder, "sequences.fasta")
	lines := strings.Split(strings.TrimSuffix(readFile(t, folder, "metadata.tsv"), "\n"), "\n")
	columns := strings.Split(lines[0], "\t")
	var entries []seqlease.Entry
	for i, line := range lines[1:] {
		entry := seqlease.Entry{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.NewAccession("LOC_", int64(i+1)), Version: 1},
			AttemptID:        seqlease.AttemptID{15: byte(i)},
		}
		entry.Data.Metadata = map[string]string{}
		entry.Data.UnalignedNucleotideSequences = map[string]string{}
		fastaIDs := ""
		for c, value := range strings.Split(line, "\t") {
			switch columns[c] {
			case "id":
				entry.SubmissionID = value
			case "fastaIds":
				fastaIDs = value
			default:
				entry.Data.Metadata[columns[c]] = value
			}
		}
		if fastaIDs == "" {
			fastaIDs = entry.SubmissionID
		}
		for _, id := range strings.Fields(fastaIDs) {
			entry.Data.UnalignedNucleotideSequences[id] = sequences[id]
		}
		entries = append(entries, entry)
	}
	return entries
}

// readReference returns the only sequence of a file in capital letters.
func readReference(t testing.TB, path ...string) string {
	t.Helper()
	ids, sequences := readFASTA(t, path...)
	return strings.ToUpper(sequences[ids[0]])
}

// singleSegment is the organism of a folder with reference.fasta.
func singleSegment(t testing.TB, folder string) *organism.Organism {
	t.Helper()
	return &organism.Organism{
		Key: seqlease.Organism(folder), DisplayName: folder, ConsensusSequences: true,
		Metadata: []organism.Field{
			{Name: "date", Type: organism.Date},
			{Name: "country", Type: organism.String},
			{Name: "authors", Type: organism.Authors},
		},
		Segments: []organism.NamedSequence{{Name: organism.MainSegment, Sequence: readReference(t, folder, "reference.fasta")}},
	}
}

// cchf is an organism of three segments.
func cchf(t testing.TB) *organism.Organism {
	t.Helper()
	o := singleSegment(t, "zika")
	o.Key, o.DisplayName, o.Segments = "cchf", "CCHF", nil
	for _, segment := range []string{"L", "M", "S"} {
		o.Segments = append(o.Segments, organism.NamedSequence{
			Name: segment, Sequence: readReference(t, "cchf", "reference_"+segment+".fasta"),
		})
	}
	return o
}

func newAlign(t testing.TB, o *organism.Organism) *Align {
	t.Helper()
	if faults := o.Check(); faults != nil {
		t.Fatal(faults)
	}
	p, err := NewAlign(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// process returns the result of the entry after a check of what holds for every
// result: the rules for processed data if it has no error, and no nil list.
func process(t testing.TB, p *Align, entry seqlease.Entry) seqlease.Result {
	t.Helper()
	result := p.Process(t.Context(), entry)
	if result.AccessionVersion != entry.AccessionVersion || result.AttemptID != entry.AttemptID {
		t.Errorf("%s: the result is for %v of attempt %v", entry.SubmissionID, result.AccessionVersion, result.AttemptID)
	}
	if len(result.Errors) == 0 {
		problems, _ := p.organism.CheckProcessed(&result.Data)
		for _, problem := range problems {
			t.Errorf("%s: invalid result: %v", entry.SubmissionID, problem)
		}
	}
	if result.Errors == nil || result.Warnings == nil || result.Data.AlignedAminoAcidSequences == nil || result.Data.AminoAcidInsertions == nil {
		t.Errorf("%s: the result has a nil list or map", entry.SubmissionID)
	}
	return result
}

// messages joins the messages of annotations, a line for each.
func messages(list []seqlease.Annotation) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString(a.Message + "\n")
	}
	return b.String()
}
