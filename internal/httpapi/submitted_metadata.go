package httpapi

import (
	"errors"
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// GetSubmittedMetadata streams what was submitted as metadata, which is read at the
// database's speed into a spool file and from there at the client's (L12).
func (s *server) GetSubmittedMetadata(w http.ResponseWriter, r *http.Request, o Organism, params GetSubmittedMetadataParams) {
	compressed, err := wantsZstd(params.Compression)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	request, err := submittedMetadataRequest(o, params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	metadata, err := s.submissions.SubmittedMetadata(r.Context(), person, request)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer metadata.Close()
	body, err := metadata.Open(r.Context(), compressed)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { _ = body.Close() }() // nothing of it is needed any more
	s.streamLines(w, r, body, metadata.Count, compressed)
}

func submittedMetadataRequest(o Organism, params GetSubmittedMetadataParams) (submission.SubmittedMetadataRequest, error) {
	request := submission.SubmittedMetadataRequest{Organism: o}
	var err error
	if request.GroupIDs, err = list("groupIdsFilter", params.GroupIdsFilter, number); err != nil {
		return request, err
	}
	if request.Statuses, err = list("statusesFilter", params.StatusesFilter, oneOf(seqlease.Statuses())); err != nil {
		return request, err
	}
	asIs := func(text string) (string, error) { return text, nil }
	if request.Fields, err = list("fields", params.Fields, asIs); err != nil {
		return request, err
	}
	texts, err := list("accessionVersionsFilter", params.AccessionVersionsFilter, asIs)
	if err != nil {
		return request, err
	}
	malformed := &seqlease.InvalidError{}
	for _, text := range texts {
		entry, err := seqlease.ParseAccessionVersion(text)
		var invalid *seqlease.InvalidError
		if errors.As(err, &invalid) {
			malformed.Add(seqlease.Problem{Field: "accessionVersionsFilter", Message: cut(invalid.Error(), maxShown)})
			continue
		}
		request.Entries = append(request.Entries, entry)
	}
	return request, malformed.OrNil()
}
