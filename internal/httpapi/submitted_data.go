package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// submittedDataBody is a SubmittedDataRequest as it comes in.
type submittedDataBody struct {
	GroupID    *int64   `json:"groupId"`
	Accessions []string `json:"accessionsFilter"`
}

// GetSubmittedData sends what was submitted as a zip file. It is made on disk first:
// while a client takes it, nothing of it is in memory, and a failure still is a status.
func (s *server) GetSubmittedData(w http.ResponseWriter, r *http.Request, o Organism) {
	var body submittedDataBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	if body.GroupID == nil {
		s.fail(w, r, missingMember("groupId"))
		return
	}
	accessions := listOf(body.Accessions, func(text string) seqlease.Accession { return seqlease.Accession(text) })
	person, _ := personOf(r.Context())
	data, err := s.submissions.SubmittedData(r.Context(), person, submission.SubmittedDataRequest{
		Organism: o, GroupID: *body.GroupID, Accessions: accessions, Large: bodyOf(r).holdLarge,
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer data.Close()
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", data.Name))
	h.Set("Content-Length", strconv.FormatInt(data.Size, 10))
	s.stream(w, r, data.Open())
}
