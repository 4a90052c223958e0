package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease/internal/queue"
)

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
