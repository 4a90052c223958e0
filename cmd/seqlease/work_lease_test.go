package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// hired is a worker in a process of its own.
type hired struct {
	process *exec.Cmd
	log     *output
	events  chan worker.Event // closed when the process has ended
	ended   chan error
}

// hire starts `seqlease work` for the Zika genomes of a server.
func hire(t *testing.T, url string, args ...string) *hired {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &hired{log: &output{}, events: make(chan worker.Event, 1000), ended: make(chan error, 1)}
	h.process = exec.CommandContext(t.Context(), self, append([]string{
		"work", "--config", "../../config/example.yaml", "--organism", "zika", "--pipeline-version", "1", "--pipeline", "align",
		"--parallel", "1", "--events",
	}, args...)...)
	h.process.Env = append(os.Environ(), "SEQLEASE_SERVER="+url, "SEQLEASE_TOKEN="+exampleTokens["PIPELINE_TOKEN"])
	h.process.Stderr = h.log
	stdout, err := h.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.process.Process.Kill() })
	go func() {
		defer close(h.events)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var e worker.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("event %s: %v", lines.Bytes(), err)
			}
			h.events <- e
		}
		h.ended <- h.process.Wait()
	}()
	return h
}

func (h *hired) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := h.process.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// dismiss stops the worker as an operator does, and checks that it ends well.
func (h *hired) dismiss(t *testing.T) (last []worker.Event) {
	t.Helper()
	h.signal(t, syscall.SIGTERM)
	for e := range h.events {
		last = append(last, e)
	}
	if err := <-h.ended; err != nil {
		t.Errorf("the worker ended with %v:\n%s", err, h.log)
	}
	return last
}

// submitZika uploads the 45 Zika genomes.
func (s *served) submitZika(t *testing.T) []seqlease.SubmissionIDMapping {
	t.Helper()
	submitter := s.submitter(t)
	group, err := submitter.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := submitter.Submit(t.Context(), client.Submission{
		Organism: "zika", GroupID: group.GroupID,
		Metadata: testFile(t, "zika/metadata.tsv"), Sequences: testFile(t, "zika/sequences.fasta"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return mappings
}

// TestWork_L8_SIGTERMGivesBackWhatIsNotFinished stops a worker in mid-batch: what
// is finished is stored, and the rest claimable at once, without a lost attempt.
func TestWork_L8_SIGTERMGivesBackWhatIsNotFinished(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	mappings := s.submitZika(t)
	h := hire(t, s.url, "--batch", "45", "--pace", "50ms")
	for done := 0; done < 5; {
		if e, running := <-h.events; !running {
			t.Fatalf("the worker ended:\n%s", h.log)
		} else if e.Kind == worker.EntryDone {
			done++
		}
	}
	stored, returned := 0, 0
	for _, e := range h.dismiss(t) {
		switch e.Kind {
		case worker.Submitted:
			stored += len(e.Entries)
		case worker.GivenBack:
			returned += len(e.Entries)
		case worker.Refused, worker.Dropped:
			t.Errorf("%s: %s", e.Kind, e.Error)
		case worker.Claimed, worker.EntryStarted, worker.EntryDone, worker.Renewed, worker.Waiting:
		}
	}
	if stored < 5 || stored+returned != len(mappings) {
		t.Errorf("%d stored and %d returned of %d", stored, returned, len(mappings))
	}
	pipeline, err := client.New(s.url, exampleTokens["PIPELINE_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := pipeline.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(claimed.Entries) != returned {
		t.Errorf("%d entries are claimable, want %d", len(claimed.Entries), returned)
	}
	for _, e := range claimed.Entries {
		if e.Attempt != 1 {
			t.Errorf("%s: attempt %d, want 1", e.AccessionVersion, e.Attempt)
		}
	}
}

// TestWork_B002_B049_AStoppedWorkerAsksBeforeItSubmits stops a worker past its
// lease while another one does the work.
func TestWork_B002_B049_AStoppedWorkerAsksBeforeItSubmits(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	mappings := s.submitZika(t)
	sleeper := hire(t, s.url, "--batch", "5", "--pace", "100ms", "--lease", "10s")
	for e := range sleeper.events {
		if e.Kind == worker.EntryDone {
			break
		}
	}
	sleeper.signal(t, syscall.SIGSTOP)
	other := hire(t, s.url)
	for stored := 0; stored < len(mappings); {
		e, running := <-other.events
		switch {
		case !running:
			t.Fatalf("the other worker ended:\n%s", other.log)
		case e.Kind == worker.Submitted:
			stored += len(e.Entries)
		case e.Kind == worker.Refused || e.Kind == worker.Dropped:
			t.Errorf("the other worker: %s: %s", e.Kind, e.Error)
		}
	}
	sleeper.signal(t, syscall.SIGCONT)
	deadline := time.After(time.Minute)
	for dropped := false; !dropped; {
		select {
		case e := <-sleeper.events:
			if e.Kind == worker.Submitted || e.Kind == worker.Refused {
				t.Errorf("the stopped worker sent results: %s", e.Kind)
			}
			dropped = e.Kind == worker.Dropped
		case <-deadline:
			t.Fatalf("the stopped worker did not drop its batch:\n%s", sleeper.log)
		}
	}
	sleeper.dismiss(t)
	other.dismiss(t)
	if got := strings.Count(sleeper.log.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings, want 1:\n%s", got, sleeper.log)
	}
}

// TestWork_B004_AKilledWorkersBatchComesBackWithinALease kills a worker after it has
// renewed its lease: others have its batch no later than one lease after that.
func TestWork_B004_AKilledWorkersBatchComesBackWithinALease(t *testing.T) {
	t.Parallel()
	const lease, batch = 10 * time.Second, 45
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	s.submitZika(t)
	h := hire(t, s.url, "--batch", "45", "--pace", "1m", "--lease", lease.String())
	for renewed := false; !renewed; {
		e, running := <-h.events
		if !running {
			t.Fatalf("the worker ended:\n%s", h.log)
		}
		renewed = e.Kind == worker.Renewed
	}
	pipeline, err := client.New(s.url, exampleTokens["PIPELINE_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	if claimed, err := pipeline.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: batch}); err != nil || len(claimed.Entries) != 0 {
		t.Fatalf("claimed %d entries, %v, while the worker has them", len(claimed.Entries), err)
	}
	h.signal(t, syscall.SIGKILL)
	killed := time.Now()
	claimed, err := pipeline.Claim(t.Context(), client.ClaimRequest{Organism: "zika", PipelineVersion: 1, Entries: batch, Wait: 25 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	// The server looks for ended leases once a second; the machine may be busy.
	if took := time.Since(killed); took > lease+5*time.Second {
		t.Errorf("claimable %s after the kill, with leases of %s", took, lease)
	}
	if most := (batch + 7) / 8; len(claimed.Entries) == 0 || len(claimed.Entries) > most {
		t.Errorf("claimed %d entries, want some, and at most %d of a batch that cost an attempt", len(claimed.Entries), most)
	}
	for _, e := range claimed.Entries {
		if e.Attempt != 2 {
			t.Errorf("%s: attempt %d, want 2: many renewals are one attempt", e.AccessionVersion, e.Attempt)
		}
	}
}
