package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func TestClaim_Limits(t *testing.T) {
	t.Parallel()
	h := open(t, 1, nil)
	tests := []struct {
		name  string
		spoil func(r *queue.ClaimRequest)
		field string // of the InvalidError
		is    error
		says  string
	}{
		{"too many entries", func(r *queue.ClaimRequest) { r.Entries = 100_001 }, "numberOfSequenceEntries", nil, "100000"},
		{"fewer than none", func(r *queue.ClaimRequest) { r.Entries = -1 }, "numberOfSequenceEntries", nil, "100000"},
		{"short lease", func(r *queue.ClaimRequest) { r.LeaseSeconds = 9 }, "leaseSeconds", nil, "10 to 86400"},
		{"negative lease", func(r *queue.ClaimRequest) { r.LeaseSeconds = -600 }, "leaseSeconds", nil, "10 to 86400"},
		{"long lease", func(r *queue.ClaimRequest) { r.LeaseSeconds = 86_401 }, "leaseSeconds", nil, "10 to 86400"},
		{"negative wait", func(r *queue.ClaimRequest) { r.Wait = -time.Second }, "waitSeconds", nil, "0 to 30"},
		{"long wait", func(r *queue.ClaimRequest) { r.Wait = 31 * time.Second }, "waitSeconds", nil, "0 to 30"},
		{"broken wait", func(r *queue.ClaimRequest) { r.Wait = 1500 * time.Millisecond }, "waitSeconds", nil, "whole seconds"},
		{"long worker id", func(r *queue.ClaimRequest) { r.WorkerID = strings.Repeat("é", 201) }, "workerId", nil, "200"},
		{"NUL in the worker id", func(r *queue.ClaimRequest) { r.WorkerID = "w\x00" }, "workerId", nil, "control"},
		{"escape in the worker id", func(r *queue.ClaimRequest) { r.WorkerID = "\x1b[31mw" }, "workerId", nil, "control"},
		{"broken worker id", func(r *queue.ClaimRequest) { r.WorkerID = "w\xff" }, "workerId", nil, "UTF-8"},
		{"unknown organism", func(r *queue.ClaimRequest) { r.Organism = "Fernvirus" }, "", seqlease.ErrUnknownOrganism, "fernvirus, other"},
		{"outdated version", func(r *queue.ClaimRequest) { r.PipelineVersion = 0 }, "", seqlease.ErrPipelineOutdated, "0"},
		{"unknown version", func(r *queue.ClaimRequest) { r.PipelineVersion = 7 }, "", seqlease.ErrPipelineUnknown, "7"},
	}
	for _, tc := range tests {
		request := queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: 1, ClaimedBy: "pipeline"}
		tc.spoil(&request)
		_, err := h.Claim(t.Context(), request)
		var invalid *seqlease.InvalidError
		if tc.field != "" && (!errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidRequest || invalid.Problems[0].Field != tc.field) {
			t.Errorf("%s: got %v, want an invalid %s", tc.name, err, tc.field)
		}
		if tc.is != nil && !errors.Is(err, tc.is) || err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want an error that says %q", tc.name, err, tc.says)
		}
	}
	if got, want := h.states(t), map[string]int{"RECEIVED NO_ISSUES": 1}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
}

func TestClaim_LeaseAndEntries(t *testing.T) {
	t.Parallel()
	h := open(t, 3, nil)
	for _, tc := range []struct {
		seconds int
		want    time.Duration
	}{{0, 10 * time.Minute}, {10, 10 * time.Second}, {86_400, 24 * time.Hour}} {
		lease, err := h.Claim(t.Context(), queue.ClaimRequest{
			Organism: fern, PipelineVersion: 1, Entries: 1, LeaseSeconds: tc.seconds, ClaimedBy: "pipeline", WorkerID: strings.Repeat("é", 200),
		})
		if err != nil {
			t.Fatal(err)
		}
		if lease.Lease != tc.want || lease.AttemptID.IsZero() || len(lease.Entries) != 1 || lease.Entries[0].Attempt != 1 {
			t.Errorf("got %+v, want one entry, its first attempt, for %s", lease, tc.want)
		}
		for entry, err := range h.Entries(t.Context(), lease, noneDamaged(t)) {
			if err != nil {
				t.Fatal(err)
			}
			var data seqlease.SubmittedData
			if err := json.Unmarshal(entry.Data, &data); err != nil {
				t.Fatal(err)
			}
			if got, want := data.UnalignedNucleotideSequences[entry.SubmissionID], "acgtacgt"; got != want {
				t.Errorf("sequence of %s: got %q, want %q as uploaded", entry.SubmissionID, got, want)
			}
		}
	}
	if lease := h.claim(t, 1); len(lease.Entries) != 0 {
		t.Errorf("claimed %d entries from an empty queue", len(lease.Entries))
	}
}

func TestEntries_LargeClaimIsReadInPages(t *testing.T) {
	t.Parallel()
	const n = 2*queue.PayloadLimit + 7
	h := open(t, n, nil)
	lease := h.claim(t, n)
	if len(lease.Entries) != n {
		t.Fatalf("claimed %d, want %d", len(lease.Entries), n)
	}
	i := 0
	for entry, err := range h.Entries(t.Context(), lease, noneDamaged(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if len(entry.Data) == 0 || entry.AccessionVersion != lease.Entries[i].AccessionVersion {
			t.Fatalf("entry %d: got %s with %d bytes, want %s", i, entry.AccessionVersion, len(entry.Data), lease.Entries[i].AccessionVersion)
		}
		i++
	}
	if i != n {
		t.Errorf("read %d entries, want %d", i, n)
	}
	for _, err := range h.Entries(t.Context(), lease, noneDamaged(t)) {
		if err != nil {
			t.Error(err)
		}
		break // stopping early is fine
	}
}

func TestGiveBackUndelivered_L8_CostsNoAttempt(t *testing.T) {
	t.Parallel()
	h := open(t, 2, nil)
	lease := h.claim(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the client has left
	if err := h.GiveBackUndelivered(ctx, lease.AttemptID); err != nil {
		t.Fatal(err)
	}
	again := h.claim(t, 2)
	if len(again.Entries) != 2 || again.Entries[0].Attempt != 1 {
		t.Errorf("got %+v, want both entries in their first attempt", again.Entries)
	}
	if err := h.send(t, good(t, lease, 0)); !errors.Is(err, seqlease.ErrLeaseLost) {
		t.Errorf("result of the lease that was given back: got %v, want %v", err, seqlease.ErrLeaseLost)
	}
	if err := h.GiveBackUndelivered(t.Context(), seqlease.NewAttemptID()); err != nil {
		t.Errorf("an unknown attempt: %v", err)
	}
}

// leaver cancels the caller's context when the claim is under way.
type leaver struct {
	queue.Store
	leave context.CancelFunc
}

func (l *leaver) Claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	l.leave()
	return l.Store.Claim(ctx, c)
}

func TestClaim_L8_CallerThatLeavesHoldsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := open(t, 2, func(s queue.Store) queue.Store { return &leaver{Store: s, leave: cancel} })
	_, err := h.Claim(ctx, queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: 2, ClaimedBy: "pipeline"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if lease := h.claim(t, 2); len(lease.Entries) != 2 || lease.Entries[0].Attempt != 1 {
		t.Errorf("got %+v, want both entries in their first attempt", lease.Entries)
	}
}

func TestClaim_L9_AWorkerThatFailsEverythingIsSlowedDown(t *testing.T) {
	t.Parallel()
	h := open(t, 20, nil)
	request := queue.ClaimRequest{Organism: fern, PipelineVersion: 1, Entries: 1, ClaimedBy: "pipeline", WorkerID: "w1", Wait: time.Second}
	claim := func(r queue.ClaimRequest) queue.Lease {
		t.Helper()
		lease, err := h.Claim(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	spoiled := func(lease queue.Lease) *seqlease.Result {
		r := good(t, lease, 0)
		r.Data.Metadata["alien"] = []byte("1")
		return r
	}
	fail := func(n int) {
		t.Helper()
		for range n {
			if err := h.send(t, spoiled(claim(request))); err == nil {
				t.Fatal("a result that breaks a rule was accepted")
			}
		}
	}
	fail(4)
	// One good result in between, and nothing happens.
	if err := h.send(t, good(t, claim(request), 0)); err != nil {
		t.Fatal(err)
	}
	fail(4)
	last := claim(request)
	if len(last.Entries) != 1 || last.RetryAfter != 0 {
		t.Fatalf("got %+v, want an entry: there was a good result among nine", last)
	}
	if err := h.send(t, spoiled(last)); err == nil {
		t.Fatal("a result that breaks a rule was accepted")
	}
	slowed := claim(request)
	if len(slowed.Entries) != 0 || slowed.RetryAfter <= 0 || slowed.RetryAfter > 2*time.Second || slowed.Mark != "" {
		t.Errorf("got %+v, want nothing, a pause, and no mark that could hide work", slowed)
	}
	outdated := request
	outdated.PipelineVersion = 0
	if _, err := h.Claim(t.Context(), outdated); !errors.Is(err, seqlease.ErrPipelineOutdated) {
		t.Errorf("slowed down, with an outdated version: got %v, want %v", err, seqlease.ErrPipelineOutdated)
	}
	for _, other := range []string{"w2", ""} {
		r := request
		r.WorkerID = other
		if lease := claim(r); len(lease.Entries) != 1 || lease.RetryAfter != 0 {
			t.Errorf("worker %q: got %+v, want an entry", other, lease)
		}
	}
	// A result of an earlier claim is stored: the worker can do it.
	if err := h.send(t, good(t, last, 0)); err != nil {
		t.Fatal(err)
	}
	if lease := claim(request); len(lease.Entries) != 1 {
		t.Errorf("got %+v, want an entry after a stored result", lease)
	}
}
