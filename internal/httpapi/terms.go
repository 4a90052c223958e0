package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// termsBody is a request for other data use terms as it comes in.
type termsBody struct {
	Accessions []*string `json:"accessions"`
	Terms      *struct {
		Type            *string `json:"type"`
		RestrictedUntil *string `json:"restrictedUntil"`
	} `json:"newDataUseTerms"`
}

func (b *termsBody) request() (submission.TermsRequest, error) {
	var request submission.TermsRequest
	switch {
	case b.Accessions == nil:
		return request, missingMember("accessions")
	case b.Terms == nil:
		return request, missingMember("newDataUseTerms")
	case b.Terms.Type == nil:
		return request, missingMember("newDataUseTerms.type")
	}
	request.TermsType, request.RestrictedUntil = *b.Terms.Type, orZero(b.Terms.RestrictedUntil)
	request.Accessions = make([]seqlease.Accession, len(b.Accessions))
	for i, text := range b.Accessions {
		name := fmt.Sprintf("accessions[%d]", i)
		if text == nil {
			return request, missingMember(name)
		}
		request.Accessions[i] = seqlease.Accession(*text)
		if fault := request.Accessions[i].Fault(); fault != "" {
			return request, seqlease.InvalidParameter(name, fmt.Sprintf("%s %s: send that of an entry", name, fault))
		}
	}
	return request, nil
}

// ChangeDataUseTerms changes the data use terms of accessions.
func (s *server) ChangeDataUseTerms(w http.ResponseWriter, r *http.Request) {
	var body termsBody
	if err := s.readJSON(r, &body, maxJSONBody); err != nil {
		s.fail(w, r, err)
		return
	}
	request, err := body.request()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	person, _ := personOf(r.Context())
	if err := s.submissions.ChangeTerms(r.Context(), person, request); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// changeDateLayout is a local date-time without zone (UTC), to the microsecond.
const changeDateLayout = "2006-01-02T15:04:05.000000"

// GetDataUseTerms tells the history of an accession's data use terms.
func (s *server) GetDataUseTerms(w http.ResponseWriter, r *http.Request, accession Accession) {
	history := s.submissions.TermsHistory(r.Context(), accession)
	writeArray(s, w, r, converted(history, func(record submission.TermsRecord) DataUseTermsChange {
		return DataUseTermsChange{
			Accession: accession, ChangeDate: record.ChangedAt.UTC().Format(changeDateLayout), UserName: record.By,
			DataUseTerms: dataUseTerms(record.Terms),
		}
	}))
}

func dataUseTerms(terms seqlease.DataUseTerms) DataUseTerms {
	shown := DataUseTerms{Type: terms.Type}
	if terms.Type == seqlease.TermsRestricted {
		until := terms.RestrictedUntil.Format(time.DateOnly)
		shown.RestrictedUntil = &until
	}
	return shown
}
