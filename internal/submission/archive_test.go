package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
)

// plainStore has documents that aren't packed.
type plainStore struct{ SubmittedStore }

func (plainStore) Unpack(_ context.Context, p seqlease.Packed) ([]byte, error) { return p.Bytes, nil }

// kept keeps entries A1, A2 and so on with the documents.
func kept(t *testing.T, dir *spool.Dir, documents ...string) *keptEntries {
	t.Helper()
	file, err := dir.CreateScratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	k := &keptEntries{store: plainStore{}, file: file}
	for i, document := range documents {
		err := k.add(SubmittedEntry{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.Accession("A" + string(rune('1'+i))), Version: 1},
			SubmissionID:     "s" + string(rune('1'+i)), Data: seqlease.Packed{Bytes: []byte(document)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// read returns the files of an archive.
func read(t *testing.T, d *SubmittedData) map[string]string {
	t.Helper()
	text, err := io.ReadAll(d.Open())
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil || d.Size != int64(len(text)) {
		t.Fatalf("%d bytes, %d announced: %v", len(text), d.Size, err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	return files
}

// What was edited is stored as it was given. Whatever it is, the files are well-formed.
func TestArchive_OfWhatWasEdited(t *testing.T) {
	t.Parallel()
	one := &organism.Organism{Key: "one", ConsensusSequences: true, Segments: []organism.NamedSequence{{Name: organism.MainSegment}}}
	two := &organism.Organism{Key: "two", ConsensusSequences: true, Segments: []organism.NamedSequence{{Name: "L"}, {Name: "S"}}}
	attached := &organism.Organism{Key: "attached", Segments: one.Segments, SubmittedFileCategories: []string{"raw", "photos"}}
	without := &organism.Organism{Key: "without", Segments: two.Segments}
	for _, tt := range []struct {
		name                string
		organism            *organism.Organism
		documents           []string
		metadata, sequences string
	}{
		{
			"nothing at all", one,
			[]string{`{}`, `{"metadata":{},"unalignedNucleotideSequences":{},"files":null}`, `{"metadata":null,"unalignedNucleotideSequences":null}`},
			"id\taccession\r\ns1\tA1\r\ns2\tA2\r\ns3\tA3\r\n", "",
		},
		{
			"keys that are columns", one,
			[]string{`{"unalignedNucleotideSequences":{"x":"ACGT"},"metadata":{"id":"1","accession":"2","submissionId":"3","files.raw":"4","":"5","b":"6"}}`},
			"id\taccession\tb\r\ns1\tA1\t6\r\n", ">s1\nACGT\n",
		},
		{
			"sequences that are none", one,
			[]string{`{"metadata":{},"unalignedNucleotideSequences":{"a":null,"b":"","c":">\n","d":"AC\n>GT\r"}}`},
			"id\taccession\r\ns1\tA1\r\n", ">s1\nACGT\n",
		},
		{
			"odd FASTA ids", two,
			[]string{`{"metadata":{"k":null},"unalignedNucleotideSequences":{"a b":"A","a_b":"C","":"G"}}`, `{"metadata":{},"unalignedNucleotideSequences":{"s1":"T"}}`},
			"id\taccession\tfastaIds\tk\r\ns1\tA1\ta_b a_b_1 s1\t\r\ns2\tA2\ts1_1\t\r\n", ">a_b\nA\n>a_b_1\nC\n>s1\nG\n>s1_1\nT\n",
		},
		{
			"columns for attachments", attached,
			[]string{`{"metadata":{"k":"v"},"unalignedNucleotideSequences":{}}`},
			"id\taccession\tk\tfiles.raw\tfiles.photos\r\ns1\tA1\tv\t\t\r\n", "-",
		},
		{
			"no sequences wanted", without,
			[]string{`{"metadata":{"k":"v"},"unalignedNucleotideSequences":{}}`},
			"id\taccession\tk\r\ns1\tA1\tv\r\n", "-",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := spool.NewDir(t.TempDir(), 0)
			a := &archive{organism: tt.organism, kept: kept(t, dir, tt.documents...)}
			d, err := a.write(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			want := map[string]string{"metadata.tsv": tt.metadata, "sequences.fasta": tt.sequences}
			if !tt.organism.ConsensusSequences {
				delete(want, "sequences.fasta")
			}
			if diff := cmp.Diff(read(t, d), want); diff != "" {
				t.Errorf("files (-got +want):\n%s", diff)
			}
		})
	}
}

func TestArchive_NamesAreBounded(t *testing.T) {
	t.Parallel()
	dir := spool.NewDir(t.TempDir(), 0)
	long := strings.Repeat("k", 1<<20)
	var document strings.Builder
	document.WriteString(`{"metadata":{"a":""`)
	for i := range 17 {
		document.WriteString(`,"` + long + string(rune('a'+i)) + `":""`)
	}
	document.WriteString(`}}`)
	asked := 0
	k := kept(t, dir, `{}`, document.String())
	k.large = func(context.Context) error {
		asked++
		return nil
	}
	a := &archive{organism: &organism.Organism{Key: "one", ConsensusSequences: true}, kept: k}
	_, err := a.write(t.Context(), dir)
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "accessionsFilter") {
		t.Errorf("got %v, want a refusal that says what to do", err)
	}
	if asked != 1 {
		t.Errorf("asked %d times for much memory, want once, for the large document", asked)
	}
}

func TestArchive_DamagedDocument(t *testing.T) {
	t.Parallel()
	dir := spool.NewDir(t.TempDir(), 0)
	for _, document := range []string{``, `{`, `[]`, `{"metadata":{"a":{}}}`, `{"unalignedNucleotideSequences":{"a":`} {
		a := &archive{organism: &organism.Organism{Key: "one", ConsensusSequences: true}, kept: kept(t, dir, document)}
		if _, err := a.write(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "A1.1") {
			t.Errorf("%q: got %v, want an error that names the entry", document, err)
		}
	}
}
