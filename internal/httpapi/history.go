package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

// GetHistory tells what became of an entry. An entry of another group, of another
// organism and one that doesn't exist have the same answer (B095).
func (s *server) GetHistory(w http.ResponseWriter, r *http.Request, o Organism, accession Accession, version VersionOfEntry) {
	entry := seqlease.AccessionVersion{Accession: accession, Version: version}
	person, _ := personOf(r.Context())
	if err := s.submissions.MaySee(r.Context(), person, o, entry); err != nil {
		s.fail(w, r, err)
		return
	}
	history, err := s.queue.History(r.Context(), o, entry)
	if errors.Is(err, seqlease.ErrNotFound) {
		err = submission.UnknownEntry(o, entry)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, EntryHistory{
		Accession: accession, Version: version,
		Claims: listOf(history.Claims, claimRecord), Failures: listOf(history.Failures, failure),
		Quarantine: listOf(history.Quarantine, quarantineRecord),
		Events:     listOf(history.Events(), historyEvent), OmittedEvents: history.Omitted(),
	})
}

func historyEvent(e queue.Event) HistoryEvent {
	return HistoryEvent{
		At: e.At.UTC(), Kind: string(e.Kind), By: orAbsent(e.By), WorkerId: orAbsent(e.WorkerID),
		PipelineVersion: orAbsent(e.PipelineVersion), ProcessingAttemptId: orAbsent(e.AttemptID), Detail: orAbsent(e.Detail),
	}
}

func claimRecord(c queue.ClaimRecord) ClaimRecord {
	record := ClaimRecord{
		ProcessingAttemptId: c.AttemptID, PipelineVersion: c.PipelineVersion, ClaimedBy: c.ClaimedBy, WorkerId: c.WorkerID,
		ClaimedAt: c.ClaimedAt.UTC(), LeaseSeconds: int64(c.Lease / time.Second), Attempt: c.Attempt, Entries: c.Entries,
	}
	if c.Accepted != nil {
		at := c.Accepted.UTC()
		record.AcceptedAt = &at
	}
	if c.Holding {
		until := c.Until.UTC()
		record.LeaseUntil = &until
	}
	return record
}

func failure(f queue.Failure) Failure {
	return Failure{
		At: f.At.UTC(), PipelineVersion: f.PipelineVersion, ProcessingAttemptId: f.AttemptID, Kind: string(f.Kind),
		WorkerId: f.WorkerID, ClaimedBy: f.ClaimedBy, Counted: f.Counted, Reason: f.Reason,
	}
}

func quarantineRecord(q queue.Quarantined) QuarantineRecord {
	return QuarantineRecord{
		PipelineVersion: q.PipelineVersion, At: q.At.UTC(), By: q.By, Reason: q.Reason, Attempts: q.Attempts, HandOuts: q.HandOuts,
	}
}
