package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
)

// GetPipelineStatistics counts the results of each pipeline version.
func (s *server) GetPipelineStatistics(w http.ResponseWriter, r *http.Request) {
	statistics, err := s.queue.PipelineStatistics(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, statistics)
}

// GetCurrentPipelineVersions tells which version is current in each organism.
func (s *server) GetCurrentPipelineVersions(w http.ResponseWriter, r *http.Request) {
	versions, err := s.queue.CurrentPipelineVersions(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, versions)
}

// DeleteAllSequenceData deletes all entries, if this is a server for trying things out.
func (s *server) DeleteAllSequenceData(w http.ResponseWriter, r *http.Request) {
	if !s.debugMode {
		s.fail(w, r, seqlease.Explain(seqlease.ErrNotFound,
			"this server isn't in debug mode, so that nothing is at %s: an operator sets debugMode in its configuration", r.URL.Path))
		return
	}
	person, _ := personOf(r.Context())
	if err := s.queue.DeleteAllSequenceData(r.Context(), person.Name); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
