package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// leasesBody is a LeaseSelection as it comes in.
type leasesBody struct {
	AttemptIDs []jsontext.Value `json:"processingAttemptIds"`
	WorkerID   *string          `json:"workerId"`
	Entries    []entryBody      `json:"accessionVersions"`
	Reason     *string          `json:"reason"`
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

// readLeases reads a body that selects leases.
func (s *server) readLeases(r *http.Request, o Organism) (queue.FreeLeases, error) {
	var body leasesBody
	free := queue.FreeLeases{Organism: o}
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		return free, err
	}
	free.WorkerID, free.Reason = orZero(body.WorkerID), orZero(body.Reason)
	var err error
	if free.Entries, err = entriesOf("accessionVersions", body.Entries); err != nil {
		return free, err
	}
	if body.AttemptIDs != nil {
		free.AttemptIDs = make([]seqlease.AttemptID, len(body.AttemptIDs))
	}
	for i, value := range body.AttemptIDs {
		if free.AttemptIDs[i], err = givenAttemptID("processingAttemptIds", value); err != nil {
			return free, err
		}
	}
	return free, nil
}
