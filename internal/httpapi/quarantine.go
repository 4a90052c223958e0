package httpapi

import (
	"net/http"
	"strconv"

	"github.com/seqlease/seqlease/internal/queue"
)

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
