package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// GetLeases lists who holds what, and on the first page who fails.
func (s *server) GetLeases(w http.ResponseWriter, r *http.Request, o Organism, params GetLeasesParams) {
	after, err := leaseAfter(params.After)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	limit := pageLimit(params.Limit)
	leases, err := s.queue.Leases(r.Context(), o, after, limit)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := LeaseList{Leases: listOf(leases, heldLease)}
	if len(leases) == limit {
		next := leaseNext(leases[limit-1])
		answer.Next = &next
	}
	if after == nil {
		workers, err := s.queue.FailingWorkers(r.Context(), o)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		failing := listOf(workers, failingWorker)
		answer.FailingWorkers = &failing
	}
	writeJSON(w, answer)
}

// The place of a lease in the list, as clients give it back: its start and its
// attempt id.
const placeSeparator = "_"

func leaseNext(l queue.HeldLease) string {
	return l.ClaimedAt.UTC().Format(time.RFC3339Nano) + placeSeparator + l.AttemptID.String()
}

// leaseAfter reads such a place; nil is before the first. Empty counts as absent.
func leaseAfter(after *After) (*queue.HeldLease, error) {
	if orZero(after) == "" {
		return nil, nil //nolint:nilnil // nil is a place
	}
	start, attempt, _ := strings.Cut(*after, placeSeparator)
	claimedAt, timeErr := time.Parse(time.RFC3339Nano, start)
	id, idErr := seqlease.ParseAttemptID(attempt)
	if timeErr != nil || idErr != nil {
		return nil, strangePlace(*after)
	}
	return &queue.HeldLease{ClaimedAt: claimedAt, AttemptID: id}, nil
}

func heldLease(l queue.HeldLease) HeldLease {
	return HeldLease{
		ProcessingAttemptId: l.AttemptID, PipelineVersion: l.PipelineVersion, ClaimedBy: l.ClaimedBy, WorkerId: l.WorkerID,
		ClaimedAt: l.ClaimedAt.UTC(), LeaseUntil: l.Until.UTC(), Ended: l.Ended, Entries: l.Entries, Claimed: l.Claimed, First: orEmpty(l.First),
	}
}

func failingWorker(f queue.FailingWorker) FailingWorker {
	return FailingWorker{
		WorkerId: f.WorkerID, ClaimedBy: f.ClaimedBy, Failures: f.Failures,
		LastAt: f.LastAt.UTC(), LastKind: string(f.LastKind), LastReason: f.LastReason,
	}
}
