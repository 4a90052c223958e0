package httpapi

import (
	"net/http"
)

// Reprocess has entries processed again (V9).
func (s *server) Reprocess(w http.ResponseWriter, r *http.Request, o Organism) {
	s.onSelection(w, r, o, s.queue.Reprocess, func(n int) any { return RequeuedEntries{Requeued: n} })
}
