package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// waitingClaim is the answer to a claim that was asked to wait.
type waitingClaim struct {
	claimed client.Claimed
	err     error
	took    time.Duration
}

// claimAndWait lets a claim wait for half a minute and returns when the server has
// begun to handle it.
func (s *served) claimAndWait(t *testing.T) <-chan waitingClaim {
	t.Helper()
	handled := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(handled) }})
	worker, err := client.New(s.url, exampleTokens["PIPELINE_TOKEN"], client.WithHTTP(&http.Client{Transport: expectContinue{}}))
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan waitingClaim, 1)
	go func() {
		began := time.Now()
		claimed, err := worker.Claim(ctx, client.ClaimRequest{Organism: "sars-cov-2", PipelineVersion: 1, Entries: 100, Wait: 30 * time.Second})
		answer <- waitingClaim{claimed, err, time.Since(began)}
	}()
	select {
	case <-handled:
	case a := <-answer:
		t.Fatalf("answered before anything happened: %+v", a)
	}
	return answer
}

// upload submits the ten small genomes.
func (s *served) upload(t *testing.T) {
	t.Helper()
	submitter := s.submitter(t)
	group, err := submitter.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := submitter.Submit(t.Context(), client.Submission{
		Organism: "sars-cov-2", GroupID: group.GroupID,
		Metadata: testFile(t, "sars-cov-2/small/metadata.tsv"), Sequences: testFile(t, "sars-cov-2/small/sequences.fasta"),
	}); err != nil {
		t.Fatal(err)
	}
}

func TestServe_AStopAnswersClaimsThatWait(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	answer := s.claimAndWait(t)
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// Requests that run on are cut.
	if a := <-answer; a.err != nil || len(a.claimed.Entries) != 0 {
		t.Errorf("got %+v, want an empty answer", a)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v:\n%s", err, s.log)
	}
}

func TestServe_AClaimThatWaitsHearsOfUploadsToAnyServer(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	if code, _, stderr := command(t, "migrate", "up", "--store", database); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	here, there := serveExample(t, "--store", database), serveExample(t, "--store", database)
	answer := here.claimAndWait(t)
	there.upload(t)
	// At the end of its time it would find them, too.
	if a := <-answer; a.err != nil || len(a.claimed.Entries) != 10 || a.took > 25*time.Second {
		t.Errorf("got %d entries and %v after %s, want 10 soon after they came", len(a.claimed.Entries), a.err, a.took)
	}
	here.stop(t)
	there.stop(t)
}

func TestServe_L9_AnEntryThatAlwaysFailsIsQuarantined(t *testing.T) {
	t.Parallel()
	s := serveExample(t, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	s.upload(t)
	worker, err := client.New(s.url, exampleTokens["PIPELINE_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	for claims := 0; ; claims++ {
		claimed, err := worker.Claim(t.Context(), client.ClaimRequest{Organism: "sars-cov-2", PipelineVersion: 1, Entries: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(claimed.Entries) == 0 {
			break
		}
		if claims == 100 {
			t.Fatal("the entries are handed out for ever")
		}
		if _, err := worker.ReturnLease(t.Context(), "sars-cov-2", client.LeaseReturn{
			AttemptID: claimed.Entries[0].AttemptID, Reason: fmt.Sprintf("\x1b[31mcrash %d\x00", claims), CountsAsAttempt: true,
		}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // 5 s are promised; the machine may be busy
	defer cancel()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		listing, err := s.submitter(t).ListEntries(ctx, "sars-cov-2", client.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if listing.StatusCounts[seqlease.Processed] == 10 && listing.ResultCounts[seqlease.HasErrors] == 10 {
			break
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("not quarantined: %v", listing.StatusCounts)
		}
	}
	operator, err := client.New(s.url, exampleTokens["OPERATOR_TOKEN"])
	if err != nil {
		t.Fatal(err)
	}
	page, err := operator.Quarantined(t.Context(), "sars-cov-2", client.Page{})
	if err != nil || len(page.Entries) != 10 {
		t.Fatalf("got %d and %v, want 10 in quarantine", len(page.Entries), err)
	}
	if reason := page.Entries[0].Reason; !strings.Contains(reason, "after 5 attempts") || !strings.Contains(reason, "crash") {
		t.Errorf("got the reason %q", reason)
	}
	s.stop(t)
}
