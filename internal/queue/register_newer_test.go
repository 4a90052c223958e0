package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// withVersions is a queue in which versions register themselves; nobody fills but
// the claims.
func withVersions(t *testing.T, n int) *house {
	t.Helper()
	var versions *reprocess.Versions
	return openWith(t, n, func(s queue.Store) queue.Store {
		versions = reprocess.New(s.(reprocess.Store), reprocess.Options{Ahead: 10})
		return s
	}, &queue.Bell{}, func(q *queue.Queue) { queue.WithVersions(versions)(q) })
}

func (h *house) claimOf(t *testing.T, version seqlease.PipelineVersion, n int) (queue.Lease, error) {
	t.Helper()
	return h.Claim(t.Context(), queue.ClaimRequest{Organism: fern, PipelineVersion: version, Entries: n, ClaimedBy: "pipeline", WorkerID: "w2"})
}

func TestClaim_V2_V3_FirstClaimOfANewerVersionGetsWork(t *testing.T) {
	t.Parallel()
	h := withVersions(t, 5)
	if err := h.send(t, good(t, h.claim(t, 1), 0)); err != nil {
		t.Fatal(err)
	}
	states := h.states(t)
	lease, err := h.claimOf(t, 2, 3)
	if err != nil || len(lease.Entries) != 3 || lease.Entries[0].Attempt != 1 {
		t.Fatalf("got %d entries, %v, want 3", len(lease.Entries), err)
	}
	rest, err := h.claimOf(t, 2, 9)
	if err != nil || len(rest.Entries) != 2 {
		t.Errorf("got %d entries, %v, want the other 2", len(rest.Entries), err)
	}
	acceptance, err := h.NewAcceptance(t.Context(), queue.AcceptanceRequest{Organism: fern, PipelineVersion: 2, SubmittedBy: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lease.Entries {
		if err := acceptance.Add(i+1, good(t, lease, i)); err != nil {
			t.Fatal(err)
		}
	}
	if accepted, err := acceptance.Commit(t.Context()); err != nil || accepted.Stored != 3 {
		t.Errorf("got %+v, %v, want 3 results stored", accepted, err)
	}
	if got := h.states(t); !cmp.Equal(got, states) { // V1: what is shown is the current version's
		t.Errorf("states: got %v, want %v as before", got, states)
	}
	if again := h.claim(t, 9); len(again.Entries) != 4 {
		t.Errorf("claimed %d entries with the current version, want 4", len(again.Entries))
	}
}

func TestClaim_V2_V7_RefusedVersions(t *testing.T) {
	t.Parallel()
	h := withVersions(t, 1)
	for _, n := range []int{0, 1} {
		if _, err := h.claimOf(t, 12, n); !errors.Is(err, seqlease.ErrPipelineUnknown) || !strings.Contains(err.Error(), "up to 11") {
			t.Errorf("got %v, want one that names the ceiling", err)
		}
		if _, err := h.claimOf(t, 0, n); !errors.Is(err, seqlease.ErrPipelineOutdated) {
			t.Errorf("got %v, want %v", err, seqlease.ErrPipelineOutdated)
		}
	}
	if lease, err := h.claimOf(t, 11, 5); err != nil || len(lease.Entries) != 1 {
		t.Errorf("got %d entries, %v with the highest version, want one", len(lease.Entries), err)
	}
}

// A paused organism registers versions, and hands nothing out.
func TestClaim_V2_L16_PausedOrganism(t *testing.T) {
	t.Parallel()
	h := withVersions(t, 2)
	if err := h.Pause(t.Context(), fern, 0, "root", ""); err != nil {
		t.Fatal(err)
	}
	if lease, err := h.claimOf(t, 2, 5); err != nil || len(lease.Entries) != 0 || !lease.Paused {
		t.Errorf("got %+v, %v, want an empty lease of a paused queue", lease, err)
	}
	if err := h.Resume(t.Context(), fern, 0, "root", ""); err != nil {
		t.Fatal(err)
	}
	if lease, err := h.claimOf(t, 2, 5); err != nil || len(lease.Entries) != 2 {
		t.Errorf("got %d entries, %v after the pause, want 2", len(lease.Entries), err)
	}
}

// A claim that waits fills, too.
func TestClaim_V3_AWaitingClaimGetsWorkAtOnce(t *testing.T) {
	t.Parallel()
	h := withVersions(t, 2)
	lease, err := h.Claim(t.Context(), queue.ClaimRequest{
		Organism: fern, PipelineVersion: 2, Entries: 5, ClaimedBy: "pipeline", WorkerID: "w2", Wait: 30 * time.Second,
	})
	if err != nil || len(lease.Entries) != 2 {
		t.Errorf("got %d entries, %v, want 2", len(lease.Entries), err)
	}
}
