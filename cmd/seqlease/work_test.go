package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// TestWork_B091_GoesOnWhenAKilledServerComesBack kills the server while a batch
// is worked on, and starts it again on the same port and store.
func TestWork_B091_GoesOnWhenAKilledServerComesBack(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	s := serveExample(t, "--store", store)
	mappings := s.submitZika(t)
	events, stdout := io.Pipe()
	ended := make(chan int, 1)
	var stderr output
	go func() {
		code := run(t.Context(), []string{
			"work", "--config", "../../config/example.yaml", "--organism", "zika", "--pipeline-version", "1",
			"--pipeline", "align", "--server", s.url, "--token", exampleTokens["PIPELINE_TOKEN"], "--batch", "9", "--events", "--until-empty",
		}, strings.NewReader(""), stdout, &stderr)
		_ = stdout.Close()
		ended <- code
	}()
	accepted, killed, back := 0, false, false
	for lines := bufio.NewScanner(events); lines.Scan(); {
		var e worker.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Kind == worker.Submitted:
			accepted += len(e.Entries)
		case e.Kind == worker.EntryStarted && accepted > 0 && !killed:
			killed = true
			if err := s.process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := <-s.ended; err == nil {
				t.Error("the killed server ended well")
			}
		case e.Kind == worker.Waiting && killed && !back:
			back = true
			address := strings.TrimPrefix(s.url, "http://")
			s = serveExample(t, "--store", store, "--listen", address)
		case e.Kind == worker.Refused || e.Kind == worker.Dropped:
			t.Errorf("a batch was lost: %+v", e)
		}
	}
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if accepted != len(mappings) || !killed {
		t.Errorf("%d of %d entries accepted; the server was killed: %t", accepted, len(mappings), killed)
	}
	listing, err := s.submitter(t).ListEntries(t.Context(), "zika", client.ListFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if got := listing.StatusCounts[seqlease.Processed]; got != int64(len(mappings)) {
		t.Errorf("%d of %d entries processed", got, len(mappings))
	}
}

func TestPaced_StopsWaitingWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := false
	paced(time.Hour, func(context.Context, seqlease.Entry) seqlease.Result {
		called = true
		return seqlease.Result{}
	})(ctx, seqlease.Entry{})
	if !called {
		t.Error("the pipeline was not called")
	}
}
