package httpapi

import (
	"net/http"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// revokeBody is a RevokeRequest as it comes in.
type revokeBody struct {
	Accessions     []*string `json:"accessions"`
	VersionComment *string   `json:"versionComment"`
}

// Revoke adds revocations to accessions.
func (s *server) Revoke(w http.ResponseWriter, r *http.Request, o Organism) {
	var body revokeBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	request := submission.RevokeRequest{Organism: o, VersionComment: body.VersionComment}
	var err error
	if request.Accessions, err = accessionsOf("accessions", body.Accessions); err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	made, err := s.submissions.Revoke(r.Context(), person, request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeMappings(w, made)
}

// accessionsOf returns the accessions of a list called member, which must be there.
func accessionsOf(member string, list []*string) ([]seqlease.Accession, error) {
	if list == nil {
		return nil, missingMember(member)
	}
	accessions := make([]seqlease.Accession, len(list))
	for i, accession := range list {
		if accession == nil {
			return nil, missingMember(member + "[" + strconv.Itoa(i) + "]")
		}
		accessions[i] = seqlease.Accession(*accession)
	}
	return accessions, nil
}
