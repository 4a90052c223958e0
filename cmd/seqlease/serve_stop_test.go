package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// slowReaders are as many claims of six entries each, of which the answers have
// begun and aren't read any further.
func (s *served) slowReaders(t *testing.T, n int) {
	t.Helper()
	const form = "numberOfSequenceEntries=6&pipelineVersion=1&leaseSeconds=600"
	for range n {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST /zika/extract-unprocessed-data HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", exampleTokens["PIPELINE_TOKEN"], len(form), form)
		if err != nil {
			t.Fatal(err)
		}
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := conn.Read(status); err != nil || string(status) != "HTTP/1.1 200" {
			t.Fatalf("got %q and %v, want an answer that begins", status, err)
		}
	}
}

// TestServe_L8_AStopGivesBackWhatItCannotDeliver has clients that read too slowly
// for the time that a server which stops gives them.
func TestServe_L8_AStopGivesBackWhatItCannotDeliver(t *testing.T) {
	t.Parallel()
	const readers, entries = 6, 36
	store := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	s := serveExample(t, "--store", store)
	group, err := s.submitter(t).CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var metadata, sequences strings.Builder
	metadata.WriteString("id\tcountry\n")
	for i := range entries { // a batch of them is more than sockets buffer
		fmt.Fprintf(&metadata, "s%d\tKenya\n", i)
		fmt.Fprintf(&sequences, ">s%d\n%s\n", i, strings.Repeat("ACGT", 1<<18))
	}
	if _, err := s.submitter(t).Submit(t.Context(), client.Submission{
		Organism: "zika", GroupID: group.GroupID,
		Metadata:  client.File{Name: "m.tsv", Content: strings.NewReader(metadata.String())},
		Sequences: client.File{Name: "s.fasta", Content: strings.NewReader(sequences.String())},
	}); err != nil {
		t.Fatal(err)
	}
	s.slowReaders(t, readers)
	began := time.Now()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.log)
	}
	if took := time.Since(began); took > stopTimeout+handlersTimeout {
		t.Errorf("stopping took %s", took)
	}
	if got := strings.Count(s.log.String(), "undelivered claim given back"); got != readers {
		t.Errorf("%d claims were given back, want %d:\n%s", got, readers, s.log)
	}

	again := serveExample(t, "--store", store)
	worker, err := client.New(again.url, exampleTokens["PIPELINE_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := worker.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: entries})
	if err != nil || len(claimed.Entries) != entries {
		t.Errorf("got %d entries and %v, want all %d to wait", len(claimed.Entries), err, entries)
	}
	for _, e := range claimed.Entries {
		if e.Attempt != 1 {
			t.Errorf("%s: attempt %d, want 1", e.AccessionVersion, e.Attempt)
		}
	}
	again.stop(t)
}

// TestHandlers_NoneRunsAfterTheWait: net/http may call a handler for a request that
// came in as its connection was cut.
func TestHandlers_NoneRunsAfterTheWait(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	h := newHandlers(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-leave }))
	go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v while a request runs", err)
	}
	close(leave)
	if err := h.wait(t.Context()); err != nil {
		t.Error(err)
	}
	late := httptest.NewRecorder()
	h.ServeHTTP(late, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if late.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d for a late request", late.Code)
	}
}
