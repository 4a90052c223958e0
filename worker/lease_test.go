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
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// leaseLost answers a renewal of a lease that is over.
var leaseLost = problem(409, "lease-lost")

// stalled answers nothing for as long as the client waits, which is noticed once
// the body was read.
func stalled(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// renewalCount returns how often a renewal was asked for.
func (s *script) renewalCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed
}

// until waits for the condition or the end of ctx, and says whether it holds.
func until(ctx context.Context, condition func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// answering returns an endless list of one answer.
func answering(handle http.HandlerFunc) []http.HandlerFunc {
	return slices.Repeat([]http.HandlerFunc{handle}, 10_000)
}

// lasting has every entry processed until the condition holds.
func lasting(condition func() bool) func(context.Context, seqlease.Entry) seqlease.Result {
	return func(ctx context.Context, _ seqlease.Entry) seqlease.Result {
		until(ctx, condition)
		return seqlease.Result{}
	}
}

func TestRun_B004_RenewsAboutThreeTimesALease(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A", "B", "C")}, renewals: answering(renewed(1))}
	w, kinds := newWorker(t, s)
	began := time.Now()
	var took time.Duration
	w.Process = lasting(func() bool {
		took = time.Since(began)
		return s.renewalCount() >= 6
	})
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if least := 6 * 250 * time.Millisecond; took < least {
		t.Errorf("6 renewals of a lease of 1 s within %s: those of a batch, not of every entry", took)
	}
	if got := kinds(); !slices.Contains(got, worker.Submitted) || slices.Contains(got, worker.Dropped) {
		t.Errorf("events %v: the batch must be submitted after two leases' time", got)
	}
}

func TestRun_B005_FailedRenewalsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(2, "A")}}
	var renewals atomic.Int64
	good := func(w http.ResponseWriter, r *http.Request) {
		renewals.Add(1)
		renewed(2)(w, r)
	}
	s.renewals = []http.HandlerFunc{
		badGateway, stalled, good, hangUp, problem(503, "busy"), good, stalled, stalled, good, problem(401, "forbidden"), hangUp, good,
	}
	w, kinds := newWorker(t, s)
	w.Process = lasting(func() bool { return renewals.Load() == 4 })
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := kinds(); !slices.Contains(got, worker.Submitted) || slices.Contains(got, worker.Dropped) {
		t.Errorf("events %v: nothing may be dropped", got)
	}
}

func TestRun_B005_GivesUpWhenTheLeaseIsReallyUsedUp(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A")}, renewals: answering(badGateway)}
	w, kinds := newWorker(t, s)
	var log bytes.Buffer
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	began := time.Now()
	w.Process = lasting(func() bool { return false })
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("gave up after %s of a lease of 1 s", took)
	}
	if want := []worker.EventKind{worker.Claimed, worker.EntryStarted, worker.Dropped}; !cmp.Equal(kinds(), want) || len(s.bodies) != 0 {
		t.Errorf("events %v, want %v; submissions %q", kinds(), want, s.bodies)
	}
	if n := s.renewalCount(); n < 2 || n > 12 {
		t.Errorf("%d tries to renew", n)
	}
	if got := strings.Count(log.String(), "\n"); got != 2 { // one that renewing goes wrong, one for the batch
		t.Errorf("%d log lines, want 2:\n%s", got, &log)
	}
}

func TestRun_B013_AnExplicitLossEndsTheWorkAtOnce(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A"), batch("B")}, renewals: []http.HandlerFunc{leaseLost}}
	w, kinds := newWorker(t, s)
	w.Process = func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		if e.Accession == "A" {
			<-ctx.Done()
		}
		return seqlease.Result{}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat([]worker.EventKind{worker.Claimed, worker.EntryStarted, worker.Dropped}, whole)
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(s.returned) != 0 {
		t.Errorf("what is lost was given back: %q", s.returned)
	}
}

func TestRun_L7_LostEntriesLeaveTheBatch(t *testing.T) {
	t.Parallel()
	s := &script{
		claims:   []http.HandlerFunc{leased(1, "A", "B", "C")},
		renewals: []http.HandlerFunc{renewed(600, `{"accession":"A","version":1}`, `{"accession":"C","version":1}`)},
	}
	w, kinds := newWorker(t, s)
	w.Process = func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		if e.Accession == "A" {
			<-ctx.Done()
		}
		return seqlease.Result{}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 1 || strings.Count(s.bodies[0], "\n") != 1 || !strings.Contains(s.bodies[0], `"B"`) {
		t.Errorf("submissions %q, want one of B alone", s.bodies)
	}
	want := []worker.EventKind{
		worker.Claimed, worker.EntryStarted, worker.Dropped, worker.Renewed, worker.EntryStarted, worker.EntryDone, worker.Submitted,
	}
	got := kinds()
	slices.Sort(got) // what is dropped and what begins happens at once
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestRun_B002_B049_AsksBeforeItSubmitsAfterAGap has a worker whose lease wasn't
// renewed for so long that it may have slept.
func TestRun_B002_B049_AsksBeforeItSubmitsAfterAGap(t *testing.T) {
	t.Parallel()
	var done atomic.Bool
	away := func(w http.ResponseWriter, r *http.Request) {
		if done.Load() {
			leaseLost(w, r)
		} else {
			badGateway(w, r)
		}
	}
	s := &script{claims: []http.HandlerFunc{leased(2, "A")}, renewals: answering(away)}
	w, kinds := newWorker(t, s)
	began := time.Now()
	w.Process = func(ctx context.Context, _ seqlease.Entry) seqlease.Result {
		until(ctx, func() bool { return time.Since(began) > 1100*time.Millisecond })
		done.Store(true)
		return seqlease.Result{}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []worker.EventKind{worker.Claimed, worker.EntryStarted, worker.EntryDone, worker.Dropped}
	if diff := cmp.Diff(want, kinds()); diff != "" || len(s.bodies) != 0 {
		t.Errorf("submissions %q; events (-want +got):\n%s", s.bodies, diff)
	}
}

// TestRun_B008_RenewsBesideABusyConnection has a client with one connection, which
// is busy with a submission.
func TestRun_B008_RenewsBesideABusyConnection(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A")}, renewals: answering(renewed(1))}
	s.submissions = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		until(r.Context(), func() bool { return s.renewalCount() >= 4 })
		accepted(w, r)
	}}
	w, kinds := newWorker(t, s)
	transport := &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(transport.CloseIdleConnections)
	var err error
	if w.Client, err = client.New(s.url, "token", client.WithHTTP(&http.Client{Transport: transport})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Run(ctx); err != nil || ctx.Err() != nil {
		t.Fatalf("%v; %d renewals", err, s.renewalCount())
	}
	if !slices.Contains(kinds(), worker.Submitted) {
		t.Errorf("events %v", kinds())
	}
}

// TestRun_B008_RenewsWhileThePipelineSpins has more spinning goroutines than cores.
func TestRun_B008_RenewsWhileThePipelineSpins(t *testing.T) {
	t.Parallel()
	const parallel = 64
	var names []seqlease.Accession
	for i := range parallel {
		names = append(names, seqlease.Accession(fmt.Sprintf("E%d", i)))
	}
	s := &script{claims: []http.HandlerFunc{leased(2, names...)}, renewals: answering(renewed(2))}
	w, kinds := newWorker(t, s)
	w.Parallel = parallel
	var spinning atomic.Int64
	w.Process = func(ctx context.Context, _ seqlease.Entry) seqlease.Result {
		spinning.Add(1)
		for (s.renewalCount() < 2 || spinning.Load() < parallel) && ctx.Err() == nil {
			continue
		}
		return seqlease.Result{}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := kinds(); !slices.Contains(got, worker.Submitted) || slices.Contains(got, worker.Dropped) {
		t.Errorf("events %v", got)
	}
}

func TestRun_NoRenewal_LeavesTheLeaseAlone(t *testing.T) {
	t.Parallel()
	s := &script{claims: []http.HandlerFunc{leased(1, "A")}}
	w, kinds := newWorker(t, s)
	w.NoRenewal = true
	began := time.Now()
	w.Process = lasting(func() bool { return time.Since(began) > 1100*time.Millisecond })
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, kinds()); diff != "" || s.renewalCount() != 0 {
		t.Errorf("%d renewals; events (-want +got):\n%s", s.renewalCount(), diff)
	}
}
