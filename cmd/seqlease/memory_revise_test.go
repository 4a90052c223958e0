// The race detector takes memory of its own.
//
//go:build !race

package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// TestServe_B038_MemoryIsBoundedForARevisionOfManyEntries revises 100,000 entries in one upload,
// in the opposite order, and asks for the answer a second time.
func TestServe_B038_MemoryIsBoundedForARevisionOfManyEntries(t *testing.T) {
	t.Parallel()
	const entries = 100_000
	path := filepath.Join(t.TempDir(), "x.db")
	store := []string{"--store", "sqlite:" + path, "--spool-dir", t.TempDir()}
	s := serveExample(t, store...)
	group, err := s.submitter(t).CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var rows, records strings.Builder
	for i := range entries {
		fmt.Fprintf(&rows, "s%d\tKenya\n", i)
		fmt.Fprintf(&records, ">s%d\nACGTACGTACGT\n", i)
	}
	first, err := s.submitter(t).Submit(t.Context(), client.Submission{
		Organism: "zika", GroupID: group.GroupID,
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader("id\tcountry\n" + rows.String())},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(records.String())},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.stop(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE entry SET approver = 'root', released_at = submitted_at"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	s = serveExample(t, store...)
	rows.Reset()
	for i := range entries {
		fmt.Fprintf(&rows, "s%d\t%s\tChile\n", i, first[entries-1-i].Accession)
	}
	revise := func() []seqlease.SubmissionIDMapping {
		made, err := s.submitter(t).Revise(t.Context(), client.Revision{
			Organism: "zika", IdempotencyKey: "many",
			Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader("id\taccession\tcountry\n" + rows.String())},
			Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(records.String())},
		})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	made := revise()
	for i, m := range made {
		if m.Accession != first[entries-1-i].Accession || m.Version != 2 || m.SubmissionID != fmt.Sprint("s", i) {
			t.Fatalf("mapping %d is %+v", i, m)
		}
	}
	if again := revise(); len(made) != entries || !cmp.Equal(again, made) {
		t.Errorf("made %d entries, and %d when asked again", len(made), len(again))
	}
	took := peakResident(t, s.process.Process.Pid)
	if took > maxResident {
		t.Errorf("the server took %d MiB, want at most %d MiB", took>>20, maxResident>>20)
	}
	t.Logf("the server took %d MiB", took>>20)
	s.stop(t)
}
