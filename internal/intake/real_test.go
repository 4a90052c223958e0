package intake

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// unpacked reads a file of the test data, decompressing zstd.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".zst") {
		return string(b)
	}
	d, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err = io.ReadAll(d); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRealSetsAreTakenWhole compares every real set with a plain reading of its files.
func TestRealSetsAreTakenWhole(t *testing.T) {
	t.Parallel()
	cases := []struct {
		set, reference string
		entries        int
	}{
		{"zika", "zika/reference.fasta", 45},
		{"zika-natal", "zika-natal/reference.fasta", 70},
		{"cchf", "cchf/reference_S.fasta", 73},
		{"ebola-sudan", "ebola-sudan/reference.fasta", 11},
		{"ebola-zaire", "ebola-zaire/reference.fasta", 20},
		{"sars-cov-2/small", "sars-cov-2/reference.fasta", 10},
		{"sars-cov-2/early-2020", "sars-cov-2/reference.fasta", 293},
		{"sars-cov-2/nextclade-2021", "sars-cov-2/reference.fasta", 50},
		{"sars-cov-2/nextclade-2024", "sars-cov-2/reference.fasta", 115},
	}
	for _, c := range cases {
		t.Run(c.set, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(testdata, c.set, "sequences.fasta*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("sequence files %v (%v)", files, err)
			}
			metadata := filepath.Join(testdata, c.set, "metadata.tsv")
			checked, err := check(t, Request{Organism: reference(t, "virus", c.reference), Metadata: onDisk(metadata), Sequences: onDisk(files[0])})
			if err != nil {
				t.Fatal(err)
			}
			wantSequences := map[string]string{}
			for _, record := range strings.Split(unpacked(t, files[0]), ">")[1:] {
				header, letters, _ := strings.Cut(record, "\n")
				wantSequences[strings.Fields(header)[0]] = strings.ReplaceAll(letters, "\n", "")
			}
			lines := strings.Split(strings.TrimSuffix(unpacked(t, metadata), "\n"), "\n")
			columns := strings.Split(lines[0], "\t")
			gotSequences := map[string]string{}
			for i, e := range entries(t, checked) {
				want := map[string]string{}
				for j, value := range strings.Split(lines[i+1], "\t") {
					want[columns[j]] = strings.TrimSpace(value)
				}
				if e.SubmissionID != want["id"] {
					t.Errorf("row %d is %q, want %q", i+1, e.SubmissionID, want["id"])
				}
				delete(want, "id")
				delete(want, "fastaIds")
				if diff := cmp.Diff(want, e.Data.Metadata); diff != "" {
					t.Errorf("metadata of %q (-want +got):\n%s", e.SubmissionID, diff)
				}
				for id, letters := range e.Data.UnalignedNucleotideSequences {
					gotSequences[id] = letters
				}
			}
			if len(lines)-1 != c.entries || checked.Len() != c.entries {
				t.Errorf("%d rows, %d entries, want %d", len(lines)-1, checked.Len(), c.entries)
			}
			if !cmp.Equal(wantSequences, gotSequences) {
				t.Errorf("sequences differ from those of the file")
			}
		})
	}
}

func TestSpoolFaultsAreNoFaultOfTheUpload(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := Check(t.Context(), Request{Organism: zika(t), Spool: spool.NewDir(missing, 0), Metadata: written("m.tsv", twoRows), Sequences: written("s.fa", oneSequence)})
	if !errors.Is(err, fs.ErrNotExist) || isRefusal(err) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func TestEntriesAfterCloseAreAnError(t *testing.T) {
	t.Parallel()
	checked, err := Check(t.Context(), Request{
		Organism: zika(t), Spool: spool.NewDir(t.TempDir(), 0), Metadata: written("m.tsv", "id\tv\na\tx\n"), Sequences: written("s.fa", oneSequence),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := checked.Close(); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, err = range checked.Entries() {
		count++
	}
	if count != 1 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("%d yields, the last with %v; want 1 with %v", count, err, os.ErrClosed)
	}
}

func TestOrganismWithoutReference(t *testing.T) {
	t.Parallel()
	o := &organism.Organism{Key: "new", DisplayName: "new", ConsensusSequences: true}
	checked, err := check(t, Request{Organism: o, Metadata: written("m.tsv", "id\tv\na\tx\n"), Sequences: written("s.fa", oneSequence)})
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, checked)[0].Data.UnalignedNucleotideSequences["a"]; got != "ACGT" {
		t.Errorf("got %q", got)
	}
}
