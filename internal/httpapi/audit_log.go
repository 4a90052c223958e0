package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// GetAuditLog lists who changed what.
func (s *server) GetAuditLog(w http.ResponseWriter, r *http.Request, params GetAuditLogParams) {
	filter, before, err := auditFilter(params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	limit := pageLimit(params.Limit)
	events, err := s.queue.AuditLog(r.Context(), filter, before, limit)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer := AuditLog{Events: listOf(events, auditEvent)}
	if len(events) == limit {
		next := strconv.FormatInt(events[limit-1].Number, 10)
		answer.Next = &next
	}
	writeJSON(w, answer)
}

// auditFilter reads the conditions, and the number of the row that the page is
// behind, 0 for the first page. Empty parameters count as absent.
func auditFilter(params GetAuditLogParams) (f queue.AuditFilter, before int64, err error) {
	if text := orZero(params.After); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return f, 0, strangePlace(text)
		}
	}
	f = queue.AuditFilter{
		Organism: orZero(params.Organism), User: orZero(params.User), Action: orZero(params.Action), Accession: orZero(params.Accession),
	}
	if group := params.GroupId; group != nil {
		if *group < 1 {
			return f, 0, seqlease.InvalidParameter("groupId", fmt.Sprintf("groupId must be at least 1, not %d", *group))
		}
		f.GroupID = *group
	}
	if f.From, err = givenInstant("from", params.From); err != nil {
		return f, 0, err
	}
	f.To, err = givenInstant("to", params.To)
	return f, before, err
}

// givenInstant is [instant] for a parameter, of which an empty one counts as absent.
func givenInstant(name string, text *string) (time.Time, error) {
	if orZero(text) == "" {
		return time.Time{}, nil
	}
	return instant(name, text)
}

func auditEvent(e seqlease.AuditEvent) AuditEvent {
	return AuditEvent{
		At: e.At.UTC(), User: e.User, Action: e.Action, Organism: orAbsent(e.Organism), GroupId: orAbsent(e.GroupID),
		Accession: orAbsent(e.Accession), Version: orAbsent(e.Version), Entries: e.Entries, Detail: e.Detail,
	}
}

// orAbsent returns nil for the zero value.
func orAbsent[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
