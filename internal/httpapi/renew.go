package httpapi

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease/internal/queue"
)

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
