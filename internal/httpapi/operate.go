package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// defaultPage is how many entries a page of a list has.
const defaultPage = 100

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

func pageLimit(limit *PageLimit) int {
	if limit == nil {
		return defaultPage
	}
	return int(*limit)
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

func strangePlace(after string) error {
	return seqlease.InvalidParameter("after", fmt.Sprintf("after must be the member next of a page, not %.80q", after))
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

func failure(f queue.Failure) Failure {
	return Failure{
		At: f.At.UTC(), PipelineVersion: f.PipelineVersion, ProcessingAttemptId: f.AttemptID, Kind: string(f.Kind),
		WorkerId: f.WorkerID, ClaimedBy: f.ClaimedBy, Counted: f.Counted, Reason: f.Reason,
	}
}

// FreeLeases ends leases at once (L16).
func (s *server) FreeLeases(w http.ResponseWriter, r *http.Request, o Organism) {
	selected, err := s.readLeases(r, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	freed, err := s.queue.FreeLeases(r.Context(), selected, person.Name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, FreedLeases{Freed: freed})
}

// GetQuarantine lists what is in quarantine and why.
func (s *server) GetQuarantine(w http.ResponseWriter, r *http.Request, o Organism, params GetQuarantineParams) {
	var after int64
	if text := orZero(params.After); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			s.fail(w, r, strangePlace(text))
			return
		}
	}
	limit := pageLimit(params.Limit)
	entries, err := s.queue.Quarantined(r.Context(), o, after, limit)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := QuarantineList{Entries: listOf(entries, quarantinedEntry)}
	if len(entries) == limit {
		next := strconv.FormatInt(entries[limit-1].EntryID, 10)
		answer.Next = &next
	}
	writeJSON(w, answer)
}

func quarantinedEntry(q queue.Quarantined) QuarantinedEntry {
	return QuarantinedEntry{
		Accession: q.Accession, Version: q.Version, PipelineVersion: q.PipelineVersion, QuarantinedAt: q.At.UTC(), QuarantinedBy: q.By,
		Attempts: q.Attempts, HandOuts: q.HandOuts, Reason: q.Reason, Failures: listOf(q.Failures, failure),
	}
}

// Quarantine puts entries into quarantine.
func (s *server) Quarantine(w http.ResponseWriter, r *http.Request, o Organism) {
	s.onSelection(w, r, o, s.queue.Quarantine, func(n int) any { return QuarantinedEntries{Quarantined: n} })
}

// Requeue takes entries out of quarantine.
func (s *server) Requeue(w http.ResponseWriter, r *http.Request, o Organism) {
	s.onSelection(w, r, o, s.queue.Requeue, func(n int) any { return RequeuedEntries{Requeued: n} })
}

// Reprocess has entries processed again (V9).
func (s *server) Reprocess(w http.ResponseWriter, r *http.Request, o Organism) {
	s.onSelection(w, r, o, s.queue.Reprocess, func(n int) any { return RequeuedEntries{Requeued: n} })
}

// onSelection does what an operator asks for with the selected entries.
func (s *server) onSelection(w http.ResponseWriter, r *http.Request, o Organism,
	act func(ctx context.Context, selected queue.Selection, by, reason string) (int, error), answer func(n int) any,
) {
	selected, reason, err := s.readSelection(r, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	n, err := act(r.Context(), selected, person.Name, reason)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, answer(n))
}
