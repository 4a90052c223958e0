// The race detector takes memory of its own.
//
//go:build !race

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
)

// refusedLines writes n results of entries that don't exist.
func refusedLines(n int, accession string) []byte {
	return linesWith(n, accession, `"errors":[{"message":"m","processedFields":[],"unprocessedFields":[]}]`)
}

// linesWith writes n results of entries that don't exist, with the given errors. Without
// any the results break rules of the organism.
func linesWith(n int, accession, errors string) []byte {
	id := seqlease.NewAttemptID()
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"accession":"LOC_%s%06d","version":1,"processingAttemptId":"%s","data":{"metadata":{"colour":1},"unalignedNucleotideSequences":{},`+
			`"alignedNucleotideSequences":{},"nucleotideInsertions":{},"alignedAminoAcidSequences":{},"aminoAcidInsertions":{},"sequenceNameToFastaId":{}},`+
			`%s,"warnings":[]}`+"\n", accession, i, id, errors)
	}
	return zip(b.Bytes())
}

// TestServe_L5_B094_MemoryIsBoundedWhereEveryLineIsRefused sends bodies that are
// small while compressed and of which every line is named in the answer.
func TestServe_L5_B094_MemoryIsBoundedWhereEveryLineIsRefused(t *testing.T) {
	t.Parallel()
	cluster, err := pgcluster.Start(context.WithoutCancel(t.Context()), pgcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	database, err := cluster.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		query         string
		body          []byte
		status, lines int
		clients       int
	}{
		{"accessions of 20 kB", "", refusedLines(5_000, strings.Repeat("A", 20_000)), 422, 5_000, 4},
		{"late results", "", refusedLines(100_000, ""), 422, 100_000, 2},
		{"results that break a rule", "", linesWith(100_000, "", `"errors":[]`), 422, 100_000, 2},
		{"lines that are no results", "&onRefused=skip", zip([]byte(strings.Repeat("{}\n", 100_000))), 200, 100_000, 1},
		{"accessions of 200 characters", "", refusedLines(100_000, strings.Repeat("A", 200)), 413, 0, 1},
	} {
		for _, store := range []string{"sqlite:" + filepath.Join(t.TempDir(), "x.db"), database} {
			s := serveExample(t, "--store", store, "--spool-dir", t.TempDir())
			var clients errgroup.Group
			for range tt.clients {
				clients.Go(func() error { return s.sendRefused(t, tt.query, tt.body, tt.status, tt.lines) })
			}
			if err := clients.Wait(); err != nil {
				t.Errorf("%s, %.8s: %v", tt.name, store, err)
			}
			took := peakResident(t, s.process.Process.Pid)
			if took > maxResident {
				t.Errorf("%s, %.8s: the server took %d MiB, want at most %d MiB", tt.name, store, took>>20, maxResident>>20)
			}
			t.Logf("%s, %.8s: %d MiB", tt.name, store, took>>20)
			s.stop(t)
		}
	}
}

// sendRefused sends a compressed body and counts the lines that the answer names.
func (s *served) sendRefused(t *testing.T, query string, body []byte, status, lines int) error {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/zika/submit-processed-data?pipelineVersion=1"+query, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("Authorization", "Bearer "+exampleTokens["PIPELINE_TOKEN"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if named := bytes.Count(said, []byte(`"reason":`)); answer.StatusCode != status || named != lines {
		return fmt.Errorf("got %d with %d lines, want %d with %d: %.300s", answer.StatusCode, named, status, lines, said)
	}
	return nil
}
