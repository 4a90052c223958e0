package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seqlease/seqlease"
)

// noteBody is an OperatorNote as it comes in.
type noteBody struct {
	Reason *string `json:"reason"`
}

// PauseOrganism has claims of the organism find nothing (L16).
func (s *server) PauseOrganism(w http.ResponseWriter, r *http.Request, o Organism) {
	s.setOrganismPaused(w, r, o, s.queue.Pause)
}

// ResumeOrganism undoes it.
func (s *server) ResumeOrganism(w http.ResponseWriter, r *http.Request, o Organism) {
	s.setOrganismPaused(w, r, o, s.queue.Resume)
}

func (s *server) setOrganismPaused(w http.ResponseWriter, r *http.Request, o Organism, set pauseCall) {
	if !s.setPaused(w, r, o, 0, set) {
		return
	}
	state, err := s.queue.Paused(r.Context(), o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, PauseState{Paused: state.Organism, PausedPipelineVersions: orEmpty(state.Versions)})
}

// pauseCall is [queue.Queue.Pause] or [queue.Queue.Resume].
type pauseCall func(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, by, reason string) error

// PausePipeline has claims for a pipeline version find nothing.
func (s *server) PausePipeline(w http.ResponseWriter, r *http.Request, o Organism, version VersionOfPipeline) {
	s.setPipelinePaused(w, r, o, version, true)
}

// ResumePipeline undoes it.
func (s *server) ResumePipeline(w http.ResponseWriter, r *http.Request, o Organism, version VersionOfPipeline) {
	s.setPipelinePaused(w, r, o, version, false)
}

func (s *server) setPipelinePaused(w http.ResponseWriter, r *http.Request, o Organism, version seqlease.PipelineVersion, paused bool) {
	if version < 1 { // 0 would be the whole organism
		s.fail(w, r, seqlease.InvalidParameter("version", fmt.Sprintf("the pipeline version must be at least 1, not %d", version)))
		return
	}
	set := s.queue.Resume
	if paused {
		set = s.queue.Pause
	}
	if s.setPaused(w, r, o, version, set) {
		writeJSON(w, PipelineState{PipelineVersion: version, Paused: paused})
	}
}

// setPaused pauses or resumes the organism, or with a version above 0 that one, and
// says whether it succeeded; if not, it has answered.
func (s *server) setPaused(w http.ResponseWriter, r *http.Request, o Organism, version seqlease.PipelineVersion, set pauseCall) bool {
	var body noteBody
	if err := s.readOptionalJSON(r, &body, maxNoteBody); err != nil {
		s.fail(w, r, err)
		return false
	}
	person, _ := personOf(r.Context())
	if err := set(r.Context(), o, version, person.Name, orZero(body.Reason)); err != nil {
		s.fail(w, r, err)
		return false
	}
	return true
}
