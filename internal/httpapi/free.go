package httpapi

import (
	"net/http"
)

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
