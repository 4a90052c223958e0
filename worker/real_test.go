package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// newRealWorker returns a worker of a real server at the address.
func newRealWorker(t *testing.T, address string) *worker.Worker {
	t.Helper()
	return &worker.Worker{
		Client: clientOf(t, address, "pipeline"), Organism: moss, PipelineVersion: 1, Parallel: 4, Lease: 10 * time.Second, ID: "w",
		UntilEmpty: true, MaxBackoff: time.Second, Process: sound,
	}
}

func clientOf(t *testing.T, address, token string) *client.Client {
	t.Helper()
	c, err := client.New(address, token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// startReal starts a real server with so many entries.
func startReal(t *testing.T, entries int) string {
	t.Helper()
	address, stop, err := startServerWith(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return address
}

// sound is a result without a fault.
func sound(_ context.Context, entry seqlease.Entry) seqlease.Result {
	var r seqlease.Result
	bog, _ := json.Marshal(entry.Data.Metadata["bog"])
	r.Data.Metadata = map[string]json.RawMessage{"bog": bog}
	for fastaID, genome := range entry.Data.UnalignedNucleotideSequences {
		r.Data.UnalignedNucleotideSequences = map[string]*string{"main": &genome}
		r.Data.AlignedNucleotideSequences = map[string]*string{"main": &genome}
		r.Data.SequenceNameToFastaID = map[string]string{"main": fastaID}
	}
	return r
}

// badRoad is a proxy that lets one of three renewals through.
func badRoad(t *testing.T, address string) (road string, renewals *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	renewals = &atomic.Int64{}
	faults := []http.HandlerFunc{badGateway, reset, stalled, problem(503, "busy"), reset, stalled}
	var failed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/renew-lease") && renewals.Add(1)%3 != 0 {
			faults[int(failed.Add(1)-1)%len(faults)](w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, renewals
}

// reset ends the connection without an answer.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// TestRun_B005_B007_ABatchLongerThanItsLease has a batch that takes one and a half
// leases, most of it waiting in the worker, over a road on which two of three
// renewals fail: every result is accepted in the first attempt.
func TestRun_B005_B007_ABatchLongerThanItsLease(t *testing.T) {
	t.Parallel()
	const entries = 20
	address := startReal(t, entries)
	road, renewals := badRoad(t, address)
	w := newRealWorker(t, road)
	w.Batch = entries
	w.Process = func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		timer := time.NewTimer(3 * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return sound(ctx, e)
	}
	var mu sync.Mutex
	submitted, claims := 0, 0
	w.Observe = func(e worker.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e.Kind {
		case worker.Claimed:
			claims++
			for _, entry := range e.Entries {
				if entry.Attempt != 1 {
					t.Errorf("%s: attempt %d", entry.AccessionVersion, entry.Attempt)
				}
			}
		case worker.Submitted:
			submitted += len(e.Entries)
		case worker.Refused, worker.Dropped, worker.GivenBack:
			t.Errorf("%s: %s", e.Kind, e.Error)
		case worker.EntryStarted, worker.EntryDone, worker.Renewed, worker.Waiting:
		}
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if submitted != entries || claims != 1 {
		t.Errorf("%d results of %d accepted in %d claims", submitted, entries, claims)
	}
	if n := renewals.Load(); n < 6 || n > 18 {
		t.Errorf("%d tries to renew a lease of 10 s within 15 s", n)
	}
}

// TestRun_B017_AResultThatIsNeverAcceptedEndsInQuarantine has a pipeline that is
// wrong about one entry.
func TestRun_B017_AResultThatIsNeverAcceptedEndsInQuarantine(t *testing.T) {
	t.Parallel()
	const entries = 6
	address := startReal(t, entries)
	w := newRealWorker(t, address)
	var log bytes.Buffer
	w.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var bad seqlease.AccessionVersion
	tries := 0
	w.Process = func(ctx context.Context, e seqlease.Entry) seqlease.Result {
		r := sound(ctx, e)
		if e.SubmissionID == "pond3" {
			bad, tries = e.AccessionVersion, tries+1
			short := "ACGT"
			r.Data.AlignedNucleotideSequences = map[string]*string{"main": &short}
		}
		return r
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tries != 5 {
		t.Errorf("tried %d times, want 5\n%s", tries, &log)
	}
	operator, submitter := clientOf(t, address, "operator"), clientOf(t, address, "submitter")
	var page client.QuarantinePage
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !until(ctx, func() bool {
		var err error
		page, err = operator.Quarantined(ctx, moss, client.Page{})
		return err == nil && len(page.Entries) > 0
	}) {
		t.Fatal("nothing is in quarantine")
	}
	q := page.Entries[0]
	if len(page.Entries) != 1 || q.AccessionVersion != bad || q.Attempts != 5 || !strings.Contains(q.Reason, "alignedNucleotideSequences") {
		t.Errorf("in quarantine: %+v", page.Entries)
	}
	listing, err := submitter.ListEntries(t.Context(), moss, client.ListFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if listing.StatusCounts[seqlease.Processed] != entries || listing.ResultCounts[seqlease.HasErrors] != 1 {
		t.Errorf("statuses %v, results %v", listing.StatusCounts, listing.ResultCounts)
	}
	history, err := submitter.History(t.Context(), moss, bad)
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, f := range history.Failures {
		if !strings.Contains(f.Reason, "alignedNucleotideSequences") {
			t.Errorf("failure %+v", f)
		}
		if f.Counted {
			counted++
		}
	}
	if len(history.Claims) != 5 || counted != 5 {
		t.Errorf("%d claims, %d failures that count; want 5 each", len(history.Claims), counted)
	}
}
