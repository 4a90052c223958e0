// The race detector takes memory of its own.
//
//go:build !race

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

// maxResident is what a server process may take with 64 clients at once, in bytes.
const maxResident = 256 << 20

// peakResident returns the most memory that a process has had (VmHWM).
func peakResident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil && runtime.GOOS != "linux" {
		t.Skipf("the memory of a process can't be read here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatalf("the system doesn't tell how much memory a process has had:\n%s", status)
	return 0
}

// uploadForm writes a multipart body with a row for the entry a.
func uploadForm(t *testing.T, group int64, name string, sequences []byte) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for part, content := range map[string]string{"groupId": strconv.FormatInt(group, 10), "dataUseTermsType": "OPEN"} {
		if err := w.WriteField(part, content); err != nil {
			t.Fatal(err)
		}
	}
	for part, file := range map[string]struct {
		name    string
		content []byte
	}{"metadataFile": {"m.tsv", []byte("id\tcountry\na\tKenya\n")}, "sequenceFile": {name, sequences}} {
		f, err := w.CreateFormFile(part, file.name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write(file.content)
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

func zip(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// TestServe_B038_B094_MemoryIsBoundedForAllRequestsTogether sends what takes most memory
// for its size, from 64 clients at once, and asks the system what the server took.
func TestServe_B038_B094_MemoryIsBoundedForAllRequestsTogether(t *testing.T) {
	t.Parallel()
	bomb, err := os.ReadFile("../../testdata/messy/57-zst-bomb/sequences.fasta.zst")
	if err != nil {
		t.Fatal(err)
	}
	genome := strings.Repeat("ACGTTGCA", 4_000)
	line := `{"accession":"EXA_000001Y","version":%d,"processingAttemptId":"` + seqlease.NewAttemptID().String() + `","data":{"metadata":{"country":"X"},` +
		`"unalignedNucleotideSequences":{"main":"` + genome + `"},"sequenceNameToFastaId":{"main":"a"},"alignedNucleotideSequences":{"main":"` + genome +
		`"},"nucleotideInsertions":{},"alignedAminoAcidSequences":{},"aminoAcidInsertions":{}}}` + "\n"
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, line, i+1)
	}
	long := `{"accession":"a","version":1,"x":"` + strings.Repeat("x", 31<<20) + `"}`
	const results, upload = "/zika/submit-processed-data?pipelineVersion=1", "/zika/submit"
	for _, tt := range []struct {
		name, path, file string
		content          []byte
		encoding         string
		status           int
	}{
		{"an upload that unpacks to a long sequence", upload, "s.fasta.zst", bomb, "", 413},
		{"an upload in a compressed body", upload, "s.fasta", []byte(">a\n" + strings.Repeat("A", 20<<20)), "gzip", 413},
		{"a sequence of 5 MB", upload, "s.fasta", []byte(">a\n" + strings.Repeat("ACGTA", 1_000_000)), "", 200},
		{"100 results of 64 kB", results, "", []byte(lines.String()), "", 422},
		{"a line of 31 MiB", results, "", []byte(long), "gzip", 400},
		{"a line without an end", results, "", []byte(`{"a":"` + strings.Repeat(" ", 100<<20)), "gzip", 413},
	} {
		s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"), "--spool-dir", t.TempDir())
		group, err := s.submitter(t).CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
		if err != nil {
			t.Fatal(err)
		}
		body, contentType, token := tt.content, "application/x-ndjson", exampleTokens["PIPELINE_TOKEN"]
		if tt.file != "" {
			body, contentType = uploadForm(t, group.GroupID, tt.file, tt.content)
			token = exampleTokens["SUBMITTER_TOKEN"]
		}
		if tt.encoding != "" {
			body = zip(body)
		}
		var clients errgroup.Group
		for range 64 {
			clients.Go(func() error {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+tt.path, bytes.NewReader(body))
				if err != nil {
					return err
				}
				r.Header.Set("Content-Type", contentType)
				r.Header.Set("Authorization", "Bearer "+token)
				if tt.encoding != "" {
					r.Header.Set("Content-Encoding", tt.encoding)
				}
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					return err
				}
				defer func() { _ = answer.Body.Close() }()
				if said, _ := io.ReadAll(answer.Body); answer.StatusCode != tt.status {
					return fmt.Errorf("%s: got %d, want %d: %.200s", tt.name, answer.StatusCode, tt.status, said)
				}
				return nil
			})
		}
		if err := clients.Wait(); err != nil {
			t.Error(err)
		}
		took := peakResident(t, s.process.Process.Pid)
		if took > maxResident {
			t.Errorf("%s, 64 at once: the server took %d MiB, want at most %d MiB", tt.name, took>>20, maxResident>>20)
		}
		t.Logf("%s: %d MiB", tt.name, took>>20)
		s.stop(t)
	}
}
