package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// script is a server that answers claims, submissions, renewals and returns from
// lists, and then with nothing waiting, "all stored", "renewed" and "returned".
type script struct {
	url         string
	mu          sync.Mutex
	claims      []http.HandlerFunc
	submissions []http.HandlerFunc
	renewals    []http.HandlerFunc
	returns     []http.HandlerFunc
	tags        []string // If-None-Match of each claim
	forms       []string // of each claim
	bodies      []string // of each submission
	renewed     int      // how often a renewal was asked for
	returned    []string // bodies of the returns
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	var handle http.HandlerFunc
	var list *[]http.HandlerFunc
	switch _, name, _ := strings.Cut(r.URL.Path[1:], "/"); name {
	case "extract-unprocessed-data":
		handle, list = empty, &s.claims
		s.tags = append(s.tags, r.Header.Get("If-None-Match"))
		s.forms = append(s.forms, string(body))
	case "submit-processed-data":
		handle, list = accepted, &s.submissions
		s.bodies = append(s.bodies, string(body))
	case "renew-lease":
		handle, list = renewed(600), &s.renewals
		s.renewed++
	case "return-lease":
		handle, list = document(`{"returned":1}`), &s.returns
		s.returned = append(s.returned, string(body))
	default:
		handle, list = http.NotFound, new([]http.HandlerFunc)
	}
	if len(*list) > 0 {
		handle, *list = (*list)[0], (*list)[1:]
	}
	s.mu.Unlock()
	handle(w, r)
}

func document(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// renewed answers a renewal for so many seconds; lost are JSON entries.
func renewed(seconds int, lost ...string) http.HandlerFunc {
	return document(fmt.Sprintf(`{"leaseUntil":"2026-03-04T05:06:07Z","leaseSeconds":%d,"held":1,"lost":[%s]}`, seconds, strings.Join(lost, ",")))
}

// stored answers a submission: so many lines are stored, and the refused ones are JSON.
func stored(n int, refused ...string) http.HandlerFunc {
	return document(fmt.Sprintf(`{"stored":%d,"refused":[%s]}`, n, strings.Join(refused, ",")))
}

func refusal(name string, line int, reason seqlease.RefusalReason, detail string) string {
	return fmt.Sprintf(`{"accession":%q,"version":1,"line":%d,"reason":%q,"detail":%q}`, name, line, reason, detail)
}

func empty(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("ETag", `"empty"`)
}

// accepted stores every line of a submission.
func accepted(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	stored(bytes.Count(body, []byte("\n")))(w, r)
}

func badGateway(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, "<html>Bad gateway</html>")
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func problem(status int, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"type":"urn:seqlease:problem:%s","title":"t","status":%d,"detail":"d"}`, kind, status)
	}
}

func versions(names ...seqlease.Accession) []seqlease.AccessionVersion {
	list := make([]seqlease.AccessionVersion, len(names))
	for i, name := range names {
		list[i] = seqlease.AccessionVersion{Accession: name, Version: 1}
	}
	return list
}

// batch answers a claim with the given accessions.
func batch(names ...seqlease.Accession) http.HandlerFunc { return leased(600, names...) }

// leased is a batch under a lease of so many seconds.
func leased(seconds int64, names ...seqlease.Accession) http.HandlerFunc {
	attempt := seqlease.NewAttemptID()
	return func(w http.ResponseWriter, r *http.Request) {
		empty(w, r)
		for _, av := range versions(names...) {
			line, _ := json.Marshal(seqlease.Entry{AccessionVersion: av, AttemptID: attempt, LeaseSeconds: seconds, Attempt: 1})
			_, _ = w.Write(append(line, '\n'))
		}
	}
}

// newWorker returns a worker of the script, quick to try again, and a function
// that tells the kinds of events so far.
func newWorker(t *testing.T, s *script) (*worker.Worker, func() []worker.EventKind) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	c, err := client.New(server.URL, "token")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var kinds []worker.EventKind
	w := &worker.Worker{
		Client: c, Organism: "zika", PipelineVersion: 1, Parallel: 1, UntilEmpty: true,
		IdlePause: time.Millisecond, MaxBackoff: time.Millisecond,
		Process: func(context.Context, seqlease.Entry) seqlease.Result { return seqlease.Result{} },
		Observe: func(e worker.Event) {
			mu.Lock()
			defer mu.Unlock()
			kinds = append(kinds, e.Kind)
		},
	}
	return w, func() []worker.EventKind {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(kinds)
	}
}

// whole are the events of a batch of one entry that goes well.
var whole = []worker.EventKind{worker.Claimed, worker.EntryStarted, worker.EntryDone, worker.Submitted}

func TestRun_SendsAResultForEveryEntryWithItsAttempt(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{batch("A", "B", "C")}}
	w, _ := newWorker(t, s)
	w.Parallel = 3
	w.Process = func(_ context.Context, e seqlease.Entry) seqlease.Result {
		return seqlease.Result{Warnings: []seqlease.Annotation{{Message: "seen " + string(e.Accession)}}}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(s.bodies[0]) {
		var r seqlease.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.AttemptID.IsZero() {
			t.Errorf("%s has no attempt id", r.AccessionVersion)
		}
		got = append(got, r.String()+" "+r.Warnings[0].Message)
	}
	if diff := cmp.Diff([]string{"A.1 seen A", "B.1 seen B", "C.1 seen C"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestRun_B091_WaitsOutAServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{badGateway, hangUp, badGateway, batch("A"), badGateway}}
	w, kinds := newWorker(t, s)
	var log bytes.Buffer
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat([]worker.EventKind{worker.Waiting, worker.Waiting, worker.Waiting}, whole, []worker.EventKind{worker.Waiting})
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got, want := strings.Count(log.String(), "\n"), 2; got != want { // one for each streak, not one for each failure
		t.Errorf("%d log lines, want %d:\n%s", got, want, &log)
	}
}

func TestRun_B013_B002_ARefusedBatchIsDroppedAndWorkGoesOn(t *testing.T) {
	t.Parallel()
	late := stored(0, refusal("A", 1, seqlease.RefusedLeaseLost, "over"))
	s := &script{
		claims:      []http.HandlerFunc{batch("A"), batch("B")},
		submissions: []http.HandlerFunc{late},
	}
	w, kinds := newWorker(t, s)
	var log bytes.Buffer
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(whole[:3], []worker.EventKind{worker.Refused}, whole)
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(s.bodies) != 2 || strings.Contains(s.bodies[1], `"A"`) {
		t.Errorf("submissions: %q", s.bodies)
	}
	if got := strings.Count(log.String(), "\n"); got != 1 {
		t.Errorf("%d log lines, want 1:\n%s", got, &log)
	}
}

func TestRun_L6_SendsTheSameAgainIfTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{batch("A")}, submissions: []http.HandlerFunc{hangUp, badGateway}}
	w, kinds := newWorker(t, s)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 3 || s.bodies[0] != s.bodies[1] || s.bodies[1] != s.bodies[2] {
		t.Errorf("submissions: %q", s.bodies)
	}
	want := slices.Concat(whole[:3], []worker.EventKind{worker.Waiting, worker.Waiting, worker.Submitted})
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRun_APanicIsAnErrorOfThatEntryAlone(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{batch("A", "B")}}
	w, _ := newWorker(t, s)
	w.Process = func(_ context.Context, e seqlease.Entry) seqlease.Result {
		if e.Accession == "A" {
			panic("no such gene")
		}
		return seqlease.Result{}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(s.bodies[0], "\n")
	if !strings.Contains(lines[0], "no such gene") || !strings.Contains(lines[1], `"errors":[]`) {
		t.Errorf("results: %q", lines)
	}
}

func TestRun_L8_GivesBackWhatItWillNotFinish(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{claims: []http.HandlerFunc{batch("A", "B")}}
	w, kinds := newWorker(t, s)
	w.Process = func(context.Context, seqlease.Entry) seqlease.Result {
		cancel()
		return seqlease.Result{}
	}
	if err := w.Run(ctx); err != nil {
		t.Errorf("stopping is no error, but got %v", err)
	}
	if len(s.bodies) != 0 {
		t.Errorf("half a batch was sent: %q", s.bodies)
	}
	if len(s.returned) != 1 || !strings.Contains(s.returned[0], `"A"`) || !strings.Contains(s.returned[0], `"B"`) || strings.Contains(s.returned[0], "countsAsAttempt") {
		t.Errorf("returns: %q", s.returned)
	}
	want := []worker.EventKind{worker.Claimed, worker.EntryStarted, worker.GivenBack}
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRun_FinishesTheSubmissionWhenToldToStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{
		claims: []http.HandlerFunc{batch("A")},
		submissions: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			cancel()
			accepted(w, r)
		}},
	}
	w, kinds := newWorker(t, s)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRun_EndsWithWhatWaitingCannotMend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"not allowed":      {problem(403, "forbidden"), seqlease.ErrForbidden},
		"unknown organism": {problem(400, "unknown-organism"), seqlease.ErrUnknownOrganism},
		"unknown version":  {problem(422, "pipeline-unknown"), seqlease.ErrPipelineUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := newWorker(t, &script{claims: []http.HandlerFunc{c.answer}})
			if err := w.Run(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestRun_IdlesWhileItsPipelineVersionIsOutdated(t *testing.T) {
	t.Parallel()
	outdated := problem(422, "pipeline-outdated")
	w, kinds := newWorker(t, &script{claims: []http.HandlerFunc{outdated, outdated}})
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]worker.EventKind{worker.Waiting, worker.Waiting}, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRun_PollsWithTheTagOfTheEmptyAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	notModified := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"empty"`)
		w.WriteHeader(http.StatusNotModified)
	}
	last := func(w http.ResponseWriter, r *http.Request) {
		cancel()
		empty(w, r)
	}
	s := &script{claims: []http.HandlerFunc{empty, notModified, batch("A"), badGateway, empty, last}}
	w, _ := newWorker(t, s)
	w.UntilEmpty = false
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{"", `"empty"`, `"empty"`, "", "", `"empty"`} // none after work and after a failure
	if diff := cmp.Diff(want, s.tags); diff != "" {
		t.Errorf("If-None-Match of the claims (-want +got):\n%s", diff)
	}
}

func TestRun_NeedsItsFields(t *testing.T) {
	t.Parallel()
	if err := (&worker.Worker{}).Run(t.Context()); err == nil {
		t.Error("no error")
	}
}
