package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// editBody is an EditedEntry as it comes in.
type editBody struct {
	entryBody
	Data *struct {
		Metadata  map[string]*string          `json:"metadata"`
		Sequences map[string]*string          `json:"unalignedNucleotideSequences"`
		Files     map[string][]jsontext.Value `json:"files"`
	} `json:"data"`
}

// SubmitEditedData replaces the data of an entry.
func (s *server) SubmitEditedData(w http.ResponseWriter, r *http.Request, o Organism) {
	var body editBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	request, err := body.request(o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	if err := s.submissions.Edit(r.Context(), person, request); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (b *editBody) request(o Organism) (submission.EditRequest, error) {
	request := submission.EditRequest{Organism: o}
	switch {
	case b.Accession == nil:
		return request, missingMember("accession")
	case b.Version == nil:
		return request, missingMember("version")
	case b.Data == nil:
		return request, missingMember("data")
	case b.Data.Metadata == nil:
		return request, missingMember("data.metadata")
	case b.Data.Sequences == nil:
		return request, missingMember("data.unalignedNucleotideSequences")
	}
	request.AccessionVersion = seqlease.AccessionVersion{Accession: seqlease.Accession(*b.Accession), Version: seqlease.Version(*b.Version)}
	if fault := request.Accession.Fault(); fault != "" {
		return request, seqlease.InvalidParameter("accession", "accession "+fault+": send that of the entry")
	}
	request.Metadata = make(map[string]string, len(b.Data.Metadata))
	for name, value := range b.Data.Metadata {
		if value == nil {
			return request, missingMember(cut("data.metadata."+name, maxShown))
		}
		request.Metadata[name] = *value
	}
	request.Sequences, request.Files = b.Data.Sequences, make(map[string]int, len(b.Data.Files))
	for category, files := range b.Data.Files {
		request.Files[category] = len(files)
	}
	return request, nil
}
