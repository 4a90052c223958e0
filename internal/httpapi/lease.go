package httpapi

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease/internal/queue"
)

// maxNoteBody bounds bodies of a few members.
const maxNoteBody = 64 << 10

// renewalBody is a LeaseRenewal as it comes in.
type renewalBody struct {
	AttemptID    jsontext.Value `json:"processingAttemptId"`
	LeaseSeconds *int64         `json:"leaseSeconds"`
}

// RenewLease extends a lease (L7).
func (s *server) RenewLease(w http.ResponseWriter, r *http.Request, o Organism) {
	var body renewalBody
	if err := s.readJSON(r, &body, maxNoteBody); err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	request := queue.RenewRequest{Organism: o, ClaimedBy: person.Name}
	var err error
	if request.AttemptID, err = givenAttemptID("processingAttemptId", body.AttemptID); err != nil {
		s.fail(w, r, err)
		return
	}
	if request.LeaseSeconds, err = leaseSeconds(body.LeaseSeconds); err != nil {
		s.fail(w, r, err)
		return
	}
	renewed, err := s.queue.Renew(r.Context(), request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, RenewedLease{
		LeaseUntil: renewed.Until.UTC(), LeaseSeconds: int64(renewed.Lease / time.Second),
		Held: renewed.Held, Lost: orEmpty(renewed.Lost),
	})
}

// returnBody is a LeaseReturn as it comes in.
type returnBody struct {
	AttemptID       jsontext.Value `json:"processingAttemptId"`
	Entries         []entryBody    `json:"accessionVersions"`
	Reason          *string        `json:"reason"`
	CountsAsAttempt *bool          `json:"countsAsAttempt"`
}

// ReturnLease gives entries back (L8). A reason that is no proper text is none to
// refuse what it is about: it is read and cleaned (L18).
func (s *server) ReturnLease(w http.ResponseWriter, r *http.Request, o Organism) {
	var body returnBody
	if err := s.readJSON(r, &body, maxJSONBody, jsontext.AllowInvalidUTF8(true)); err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	request := queue.GiveBackRequest{
		Organism: o, ClaimedBy: person.Name, Reason: orZero(body.Reason), CountsAsAttempt: orZero(body.CountsAsAttempt),
	}
	var err error
	if request.AttemptID, err = givenAttemptID("processingAttemptId", body.AttemptID); err != nil {
		s.fail(w, r, err)
		return
	}
	if request.Entries, err = entriesOf("accessionVersions", body.Entries); err != nil {
		s.fail(w, r, err)
		return
	}
	returned, err := s.queue.GiveBack(r.Context(), request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, ReturnedLease{Returned: returned})
}

// orEmpty makes an empty list of none, which JSON would show as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// listOf converts a list; the result is never nil.
func listOf[T, U any](list []T, convert func(T) U) []U {
	converted := make([]U, len(list))
	for i, x := range list {
		converted[i] = convert(x)
	}
	return converted
}
