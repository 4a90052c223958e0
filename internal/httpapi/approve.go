package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// approveBody is an ApproveRequest as it comes in. A filter that is absent or
// null takes everything.
type approveBody struct {
	Scope      *string     `json:"scope"`
	Entries    []entryBody `json:"accessionVersionsFilter"`
	GroupIDs   []int64     `json:"groupIdsFilter"`
	Submitters []string    `json:"submitterNamesFilter"`
}

// ApproveProcessedData releases entries.
func (s *server) ApproveProcessedData(w http.ResponseWriter, r *http.Request, o Organism) {
	var body approveBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	request := submission.ApproveRequest{Organism: o, GroupIDs: body.GroupIDs, Submitters: body.Submitters}
	if body.Scope == nil {
		s.fail(w, r, missingMember("scope"))
		return
	}
	request.Scope = seqlease.ApprovalScope(*body.Scope)
	var err error
	if request.Entries, err = entriesOf("accessionVersionsFilter", body.Entries); err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	approved, err := s.submissions.Approve(r.Context(), person, request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, approved)
}
