package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// approveBody is an ApproveRequest as it comes in. A filter that is absent or
// null takes everything.
type approveBody struct {
	Scope   *string `json:"scope"`
	Entries []struct {
		Accession *string `json:"accession"`
		Version   *int64  `json:"version"`
	} `json:"accessionVersionsFilter"`
	GroupIDs   []int64  `json:"groupIdsFilter"`
	Submitters []string `json:"submitterNamesFilter"`
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
	if body.Entries != nil {
		request.Entries = make([]seqlease.AccessionVersion, len(body.Entries))
	}
	for i, entry := range body.Entries {
		if entry.Accession == nil || entry.Version == nil {
			s.fail(w, r, missingMember("accessionVersionsFilter.accession or version"))
			return
		}
		request.Entries[i] = seqlease.AccessionVersion{
			Accession: seqlease.Accession(*entry.Accession), Version: seqlease.Version(*entry.Version),
		}
	}
	person, _ := personOf(r.Context())
	approved, err := s.submissions.Approve(r.Context(), person, request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, approved)
}
