package queue_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func TestRenew_L7(t *testing.T) {
	t.Parallel()
	h := open(t, 2, nil)
	lease := h.claim(t, 2)
	request := queue.RenewRequest{Organism: fern, AttemptID: lease.AttemptID, ClaimedBy: "pipeline"}
	for _, tc := range []struct {
		seconds int
		want    time.Duration
	}{{0, 10 * time.Minute}, {10, 10 * time.Second}, {86_400, 24 * time.Hour}, {0, 10 * time.Minute}} {
		request.LeaseSeconds = tc.seconds
		renewed, err := h.Renew(t.Context(), request)
		if err != nil || renewed.Lease != tc.want || renewed.Held != 2 || len(renewed.Lost) != 0 {
			t.Errorf("%d s: got %+v and %v, want both entries held for %s", tc.seconds, renewed, err, tc.want)
		}
	}
	for _, seconds := range []int{-1, 9, 86_401} {
		request.LeaseSeconds = seconds
		if _, err := h.Renew(t.Context(), request); !isInvalid(err, "leaseSeconds") {
			t.Errorf("%d s: got %v, want leaseSeconds invalid", seconds, err)
		}
	}
	request.LeaseSeconds = 0
	stranger, unknown, elsewhere := request, request, request
	stranger.ClaimedBy, unknown.AttemptID, elsewhere.Organism = "somebody", seqlease.NewAttemptID(), "nowhere"
	for name, tc := range map[string]struct {
		request queue.RenewRequest
		want    error
	}{
		"another user": {stranger, seqlease.ErrLeaseLost}, "an unknown attempt": {unknown, seqlease.ErrLeaseLost},
		"an unknown organism": {elsewhere, seqlease.ErrUnknownOrganism},
	} {
		if _, err := h.Renew(t.Context(), tc.request); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
	h.age(t)
	if _, err := h.Renew(t.Context(), request); !errors.Is(err, seqlease.ErrLeaseLost) {
		t.Errorf("after the lease end: got %v, want %v", err, seqlease.ErrLeaseLost)
	}
}

// isInvalid says whether an error names the member of a request.
func isInvalid(err error, field string) bool {
	var invalid *seqlease.InvalidError
	return errors.As(err, &invalid) && invalid.Kind == seqlease.InvalidRequest && invalid.Problems[0].Field == field
}

func TestGiveBack_L8(t *testing.T) {
	t.Parallel()
	h := open(t, 3, nil)
	lease := h.claim(t, 3)
	request := queue.GiveBackRequest{
		Organism: fern, AttemptID: lease.AttemptID, ClaimedBy: "pipeline",
		Entries: []seqlease.AccessionVersion{lease.Entries[1].AccessionVersion}, Reason: "shutting down",
	}
	if n, err := h.GiveBack(t.Context(), request); err != nil || n != 1 {
		t.Errorf("one entry: got %d and %v", n, err)
	}
	again := h.claim(t, 10)
	if len(again.Entries) != 1 || again.Entries[0].AccessionVersion != lease.Entries[1].AccessionVersion || again.Entries[0].Attempt != 1 {
		t.Errorf("got %+v, want the entry in its first attempt", again.Entries)
	}
	request.Entries, request.CountsAsAttempt = nil, true
	if n, err := h.GiveBack(t.Context(), request); err != nil || n != 2 {
		t.Errorf("the rest: got %d and %v", n, err)
	}
	if again := h.claim(t, 10); len(again.Entries) != 2 || again.Entries[0].Attempt != 2 {
		t.Errorf("got %+v, want both in their second attempt", again.Entries)
	}
	if _, err := h.GiveBack(t.Context(), request); !errors.Is(err, seqlease.ErrLeaseLost) {
		t.Errorf("nothing is held: got %v, want %v", err, seqlease.ErrLeaseLost)
	}
	request.Entries = make([]seqlease.AccessionVersion, queue.MaxEntries+1)
	if _, err := h.GiveBack(t.Context(), request); !isInvalid(err, "accessionVersions") {
		t.Errorf("too many: got %v", err)
	}
	request.Organism = "nowhere"
	request.Entries = nil
	if _, err := h.GiveBack(t.Context(), request); !errors.Is(err, seqlease.ErrUnknownOrganism) {
		t.Errorf("got %v, want %v", err, seqlease.ErrUnknownOrganism)
	}
}

func TestGiveBack_B019_AnyReasonCanBeStored(t *testing.T) {
	t.Parallel()
	h := open(t, 4, nil)
	for name, reason := range map[string]string{
		"NUL": "a\x00b", "broken": "a\xff", "long": strings.Repeat("🧬", 5<<18), "escapes": "\x1b[2J\x1b]0;x\a",
	} {
		lease := h.claim(t, 1)
		n, err := h.GiveBack(t.Context(), queue.GiveBackRequest{
			Organism: fern, AttemptID: lease.AttemptID, ClaimedBy: "pipeline", Reason: reason, CountsAsAttempt: true,
		})
		if err != nil || n != 1 {
			t.Errorf("%s: got %d and %v, want the entry given back", name, n, err)
		}
		history, err := h.History(t.Context(), fern, lease.Entries[0].AccessionVersion)
		noted := func(f queue.Failure) bool {
			return f.AttemptID == lease.AttemptID && f.Reason == queue.CleanReason(reason)
		}
		if err != nil || !slices.ContainsFunc(history.Failures, noted) {
			t.Errorf("%s: got %+v and %v, want the cleaned reason", name, history.Failures, err)
		}
	}
}

// TestDamaged_B022 gives back an entry that can't be read; its neighbours go on.
func TestDamaged_B022_ReachesQuarantineWithoutItsNeighbours(t *testing.T) {
	t.Parallel()
	h := open(t, 3, nil)
	lease := h.claim(t, 3)
	bad := lease.Entries[1].AccessionVersion
	for attempts := 1; attempts <= queue.DefaultRetry.Attempts; attempts++ {
		if n := len(lease.Entries); attempts > 1 && (n != 1 || lease.Entries[0].AccessionVersion != bad || lease.Entries[0].Attempt != attempts) {
			t.Fatalf("got %+v, want the damaged entry in attempt %d", lease.Entries, attempts)
		}
		if err := h.Damaged(t.Context(), lease.AttemptID, fern, []seqlease.AccessionVersion{bad}); err != nil {
			t.Fatal(err)
		}
		lease = h.claim(t, 3)
	}
	if len(lease.Entries) > 0 {
		t.Errorf("got %+v, want the damaged entry never again", lease.Entries)
	}
	spent, err := h.store.Spent(t.Context(), 10)
	if err != nil || len(spent) != 1 || spent[0].AccessionVersion != bad || spent[0].Failures[0].Kind != queue.FailureDamaged {
		t.Errorf("got %+v and %v, want the damaged entry used up", spent, err)
	}
	if got, want := h.states(t), map[string]int{"IN_PROCESSING ": 2, "RECEIVED NO_ISSUES": 1}; !cmp.Equal(got, want) {
		t.Errorf("states: got %v, want %v", got, want)
	}
	if err := h.Damaged(t.Context(), lease.AttemptID, fern, nil); err != nil {
		t.Errorf("no entries: %v", err)
	}
}
