package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// deleteBody is a DeleteRequest as it comes in. A filter that is absent or null
// takes everything.
type deleteBody struct {
	Scope    *string     `json:"scope"`
	Entries  []entryBody `json:"accessionVersionsFilter"`
	GroupIDs []int64     `json:"groupIdsFilter"`
}

// DeleteSequenceEntryVersions deletes entries.
func (s *server) DeleteSequenceEntryVersions(w http.ResponseWriter, r *http.Request, o Organism) {
	var body deleteBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	if orZero(body.Scope) == "" {
		s.fail(w, r, missingMember("scope"))
		return
	}
	request := submission.DeleteRequest{Organism: o, Scope: seqlease.DeletionScope(*body.Scope), GroupIDs: body.GroupIDs}
	var err error
	if request.Entries, err = entriesOf("accessionVersionsFilter", body.Entries); err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	deleted, err := s.submissions.Delete(r.Context(), person, request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, deleted)
}
