package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/worker"
)

// outcomes collects what events say of entries, as "kind A.1 B.1".
func outcomes(w *worker.Worker) func() []string {
	var mu sync.Mutex
	var list []string
	w.Observe = func(e worker.Event) {
		if e.Kind == worker.Claimed || e.Kind == worker.EntryStarted || e.Kind == worker.EntryDone || e.Kind == worker.Renewed {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		words := []string{string(e.Kind)}
		for _, entry := range e.Entries {
			words = append(words, entry.String())
		}
		list = append(list, strings.Join(words, " "))
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

func TestRun_B017_FaultyResultsAreGivenBackWithTheirReason(t *testing.T) {
	t.Parallel()
	s := &script{
		claims: []http.HandlerFunc{batch("A", "B", "C", "D", "E")},
		submissions: []http.HandlerFunc{stored(2,
			refusal("B", 2, seqlease.RefusedInvalid, "field age: not a number"),
			refusal("", 4, seqlease.RefusedInvalid, "line 4 is no JSON"),
			refusal("E", 5, seqlease.RefusedEdited, "edited since"))},
	}
	w, _ := newWorker(t, s)
	got := outcomes(w)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"submitted A.1 C.1", "refused B.1 D.1 E.1", "given-back B.1", "given-back D.1"}
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(s.returned) != 2 || !strings.Contains(s.returned[0], `"countsAsAttempt":true`) || !strings.Contains(s.returned[0], "field age: not a number") {
		t.Errorf("returns: %q", s.returned)
	}
}

func TestRun_B068_EveryRefusalIsToldAndFewCallsGiveThemBack(t *testing.T) {
	t.Parallel()
	var names []seqlease.Accession
	var refused []string
	for i := range 9 {
		names = append(names, seqlease.Accession(fmt.Sprintf("E%d", i)))
		refused = append(refused, refusal(fmt.Sprintf("E%d", i), i+1, seqlease.RefusedInvalid, fmt.Sprintf("fault %d", i)))
	}
	s := &script{claims: []http.HandlerFunc{batch(names...)}, submissions: []http.HandlerFunc{stored(0, refused...)}}
	w, _ := newWorker(t, s)
	var log bytes.Buffer
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var told []seqlease.Refusal
	w.Observe = func(e worker.Event) { told = append(told, e.Refused...) }
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if !strings.Contains(log.String(), fmt.Sprintf("invalid: fault %d", i)) {
			t.Errorf("the log doesn't tell fault %d:\n%s", i, &log)
		}
	}
	if len(told) != 9 || len(s.returned) != 4 {
		t.Errorf("%d refusals told, %d calls: %q", len(told), len(s.returned), s.returned)
	}
	if all := strings.Join(s.returned, ""); strings.Count(all, `"E`) != 9 {
		t.Errorf("not every entry was given back: %s", all)
	}
}

// TestRun_B043_KeepsResultsWhileTheyCannotBeWritten has a server that takes no
// results for longer than a lease.
func TestRun_B043_KeepsResultsWhileTheyCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A", "B")}, renewals: answering(renewed(1))}
	s.submissions = answering(func(w http.ResponseWriter, r *http.Request) {
		if s.renewalCount() < 6 {
			problem(503, "busy")(w, r)
			return
		}
		accepted(w, r)
	})
	w, kinds := newWorker(t, s)
	w.MaxBackoff = 100 * time.Millisecond
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := kinds()
	if got[len(got)-1] != worker.Submitted || slices.Contains(got, worker.Dropped) {
		t.Errorf("events %v", got)
	}
	if n := len(s.bodies); n < 3 || n > 60 || s.bodies[0] != s.bodies[n-1] {
		t.Errorf("%d submissions, the last like the first: %t", n, s.bodies[0] == s.bodies[n-1])
	}
}

func TestRun_B043_DropsResultsWhenTheLeaseIsLostMeanwhile(t *testing.T) {
	t.Parallel()
	s := &script{
		claims: []http.HandlerFunc{leased(1, "A"), batch("B")}, renewals: []http.HandlerFunc{leaseLost},
		submissions: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
	}
	lost := stored(0, refusal("A", 1, seqlease.RefusedLeaseLost, "over"))
	s.submissions = append(s.submissions, func(w http.ResponseWriter, r *http.Request) {
		until(r.Context(), func() bool { return s.renewalCount() > 0 }) // what was sent once is asked for once more
		lost(w, r)
	})
	w, _ := newWorker(t, s)
	got := outcomes(w)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"waiting", "refused A.1", "submitted B.1"}; !cmp.Equal(got(), want) {
		t.Errorf("events %q, want %q", got(), want)
	}
}

// answeringUnless stores every line of each submission, unless one has the word in it.
func answeringUnless(word string, otherwise http.HandlerFunc) []http.HandlerFunc {
	return answering(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(word)) {
			otherwise(w, r)
			return
		}
		stored(bytes.Count(body, []byte("\n")))(w, r)
	})
}

func TestRun_TooLargeSubmissionsAreDivided(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{batch("A", "HUGE", "C", "D")}, submissions: answeringUnless("HUGE", problem(413, "too-large"))}
	w, _ := newWorker(t, s)
	got := outcomes(w)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"submitted A.1", "given-back HUGE.1", "submitted C.1 D.1"}; !cmp.Equal(got(), want) {
		t.Errorf("events %q, want %q", got(), want)
	}
	if len(s.returned) != 1 || !strings.Contains(s.returned[0], `"countsAsAttempt":true`) {
		t.Errorf("returns: %q", s.returned)
	}
}

// TestRun_B014_FindsTheResultThatTheServerCannotCopeWith has a server with a fault
// that one result brings out.
func TestRun_B014_FindsTheResultThatTheServerCannotCopeWith(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{batch("A", "B", "C", "BAD")}, submissions: answeringUnless("BAD", problem(500, "none"))}
	w, _ := newWorker(t, s)
	got := outcomes(w)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := slices.DeleteFunc(got(), func(text string) bool { return text == "waiting" })
	if want := []string{"submitted A.1 B.1", "submitted C.1", "given-back BAD.1"}; !cmp.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	if waits := len(got()) - len(events); waits < 20 {
		t.Errorf("only %d tries before a result was given up", waits)
	}
}

func TestRun_L8_SendsWhatIsFinishedWhenToldToStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{claims: []http.HandlerFunc{batch("A", "B", "C")}}
	w, _ := newWorker(t, s)
	got := outcomes(w)
	w.Process = func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		if e.Accession == "B" {
			cancel()
			<-ctx.Done()
		}
		return seqlease.Result{}
	}
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"given-back B.1 C.1", "submitted A.1"}; !cmp.Equal(got(), want) {
		t.Errorf("events %q, want %q", got(), want)
	}
}

func TestRun_L8_GivesBackWhatItCannotSendWhenToldToStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{claims: []http.HandlerFunc{batch("A")}, returns: []http.HandlerFunc{badGateway, hangUp}}
	s.submissions = answering(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		badGateway(w, r)
	})
	w, _ := newWorker(t, s)
	got := outcomes(w)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"given-back A.1"}; !cmp.Equal(got(), want) || len(s.returned) != 3 {
		t.Errorf("events %q, want %q; returns %q", got(), want, s.returned)
	}
}

func TestRun_B031_WaitsAtTheServerAndSlowsDownWhenTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	slower := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Retry-After", "1")
	}
	var asked []time.Time
	noted := func(handle http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, time.Now())
			handle(w, r)
		}
	}
	last := func(w http.ResponseWriter, r *http.Request) {
		cancel()
		empty(w, r)
	}
	s := &script{claims: []http.HandlerFunc{noted(slower), noted(last)}}
	w, _ := newWorker(t, s)
	w.UntilEmpty = false
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if d := asked[1].Sub(asked[0]); d < time.Second {
		t.Errorf("asked again after %s, told to wait 1 s", d)
	}
	for _, form := range s.forms {
		if !strings.Contains(form, "waitSeconds=20") {
			t.Errorf("claim %q doesn't wait", form)
		}
	}
	s = &script{claims: []http.HandlerFunc{slower, batch("A")}}
	w, _ = newWorker(t, s)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 1 || strings.Contains(strings.Join(s.forms, ""), "waitSeconds") {
		t.Errorf("until empty: %d submissions, claims %q", len(s.bodies), s.forms)
	}
}
