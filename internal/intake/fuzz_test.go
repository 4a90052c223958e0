package intake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// addMessy makes a corpus of the damaged uploads.
func addMessy(f *testing.F, pattern string) {
	files, err := filepath.Glob(filepath.Join(testdata, "messy/*", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(content) < 20_000 {
			f.Add(content)
		}
	}
}

// fuzzUpload checks an upload under small limits: it is taken whole or refused
// with words, and what is taken holds what the contracts say.
func fuzzUpload(t *testing.T, r Request) {
	t.Helper()
	r.Limits = Limits{UploadBytes: 1 << 20, SequenceBytes: 1 << 16, CellBytes: 1 << 12, RowBytes: 1 << 14, Columns: 50, Rows: 500, Sequences: 500}
	checked, err := check(t, r)
	if err != nil {
		if !isRefusal(err) {
			t.Fatalf("not a refusal: %v", err)
		}
		if !utf8.ValidString(err.Error()) {
			t.Errorf("message is not UTF-8: %q", err)
		}
		return
	}
	seen := map[string]bool{}
	for e, err := range checked.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		var data seqlease.SubmittedData
		if err := json.Unmarshal(e.Data, &data); err != nil || !utf8.Valid(e.Data) {
			t.Fatalf("entry %q: %v: %q", e.SubmissionID, err, e.Data)
		}
		if idFault(e.SubmissionID) != "" || seen[e.SubmissionID] || len(data.Metadata) == 0 {
			t.Errorf("entry %q, seen %v: %s", e.SubmissionID, seen[e.SubmissionID], e.Data)
		}
		seen[e.SubmissionID] = true
		for id, letters := range data.UnalignedNucleotideSequences {
			if idFault(id) != "" || letters == "" {
				t.Errorf("entry %q: sequence %q is %q", e.SubmissionID, id, letters)
			}
			for i := range len(letters) {
				if !sequenceLetters[letters[i]] {
					t.Fatalf("entry %q: letter %q", e.SubmissionID, letters[i])
				}
			}
		}
	}
	if r.Revision {
		wantAccessions(t, checked)
	}
	if len(seen) == 0 || len(seen) != checked.Len() {
		t.Errorf("%d entries, Len %d", len(seen), checked.Len())
	}
}

func FuzzMetadata(f *testing.F) {
	addMessy(f, "metadata.tsv*")
	o := zika(f)
	o.ConsensusSequences = false
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzUpload(t, Request{Organism: o, Metadata: inMemory("m.tsv", content)})
	})
}

// wantAccessions checks that each entry of a revision has an accession of its own.
func wantAccessions(t *testing.T, checked *Checked) {
	t.Helper()
	named := map[seqlease.Accession]bool{}
	for _, accession := range checked.Accessions() {
		if accessionFault(string(accession)) != "" || named[accession] {
			t.Errorf("accession %q, seen %v", accession, named[accession])
		}
		named[accession] = true
	}
	if len(named) != checked.Len() {
		t.Errorf("%d accessions of %d entries", len(named), checked.Len())
	}
}

// FuzzRevision mutates tables that name what they revise.
func FuzzRevision(f *testing.F) {
	addMessy(f, "metadata.tsv*")
	f.Add([]byte("id\taccession\tfastaIds\tc\nx\tLOC_1\tx\ty\nz\tLOC_2\tz\ty\n"))
	f.Add([]byte("accession\tsubmissionId\tc\nLOC_1.2\ta\tb\n"))
	o := zika(f)
	o.ConsensusSequences = false
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzUpload(t, Request{Organism: o, Revision: true, Metadata: inMemory("m.tsv", content)})
	})
}

func FuzzSequences(f *testing.F) {
	addMessy(f, "sequences.fasta*")
	o := zika(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzUpload(t, Request{Organism: o, Metadata: written("m.tsv", "id\tv\nPRVABC59\tx\n"), Sequences: inMemory("s.fasta", content)})
	})
}

// FuzzContainer mutates compressed files; the lzma name makes them one if nothing else.
func FuzzContainer(f *testing.F) {
	addMessy(f, "metadata.tsv.*")
	f.Add(asLZMA(f, []byte("id\tv\na\tx\n")))
	f.Add(asZip(f, zipMember{name: "x", content: "id\tv\na\tx\n"}))
	o := zika(f)
	o.ConsensusSequences = false
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzUpload(t, Request{Organism: o, Metadata: inMemory("m.tsv.lzma", content)})
	})
}
