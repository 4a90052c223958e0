package httpapi

import (
	"net/http"
)

// Requeue takes entries out of quarantine.
func (s *server) Requeue(w http.ResponseWriter, r *http.Request, o Organism) {
	s.onSelection(w, r, o, s.queue.Requeue, func(n int) any { return RequeuedEntries{Requeued: n} })
}
