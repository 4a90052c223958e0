package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// submitOperation is the operation that stores new entries.
const submitOperation = "POST /{organism}/submit"

// Submit stores an upload of new entries.
func (s *server) Submit(w http.ResponseWriter, r *http.Request, o Organism, params SubmitParams) {
	s.answerUpload(w, r, uploading{
		organism: o, key: params.IdempotencyKey,
		store: func(form *uploadForm) ([]seqlease.SubmissionIDMapping, error) {
			request, err := form.submission(o, params)
			if err != nil {
				return nil, err
			}
			request.Large, request.Check = bodyOf(r).holdLarge, form.check
			person, _ := personOf(r.Context())
			return s.submissions.Submit(r.Context(), person, request)
		},
	})
}

// mappingsAtOnce is about how many bytes of an answer are made before they are sent.
const mappingsAtOnce = 32 << 10

// writeMappings is writeJSON of what an upload has made, piece by piece: it may be long.
func writeMappings(w http.ResponseWriter, made []seqlease.SubmissionIDMapping) {
	w.Header().Set("Content-Type", "application/json")
	text := []byte{'['}
	for i, m := range made {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendMapping(text, m)
		if len(text) < mappingsAtOnce {
			continue
		}
		if _, err := w.Write(text); err != nil {
			return // a client that left finds out by itself
		}
		text = text[:0]
	}
	_, _ = w.Write(append(text, ']'))
}

func appendMapping(dst []byte, m seqlease.SubmissionIDMapping) []byte {
	text := func(value string) {
		var err error
		if dst, err = jsontext.AppendQuote(dst, value); err != nil {
			panic(fmt.Sprintf("encode %q: %v", value, err)) // no id is stored that isn't UTF-8
		}
	}
	dst = append(dst, `{"accession":`...)
	text(string(m.Accession))
	dst = strconv.AppendInt(append(dst, `,"version":`...), int64(m.Version), 10)
	dst = append(dst, `,"submissionId":`...)
	text(m.SubmissionID)
	return append(dst, '}')
}

// submission joins the form with the query, which wins.
func (f *uploadForm) submission(o Organism, params SubmitParams) (submission.SubmitRequest, error) {
	request := submission.SubmitRequest{
		Organism: o, TermsType: f.fields["dataUseTermsType"], RestrictedUntil: f.fields["restrictedUntil"],
		Metadata: f.files[metadataPart], Sequences: f.files[sequencePart],
	}
	if params.DataUseTermsType != nil {
		request.TermsType = string(*params.DataUseTermsType)
	}
	if params.RestrictedUntil != nil {
		request.RestrictedUntil = *params.RestrictedUntil
	}
	var err error
	if request.GroupID, err = f.groupID(params); err != nil {
		return request, err
	}
	request.Key = f.uploadKey(params.IdempotencyKey,
		submitOperation, string(o), strconv.FormatInt(request.GroupID, 10), request.TermsType, request.RestrictedUntil)
	return request, nil
}

func (f *uploadForm) groupID(params SubmitParams) (int64, error) {
	if params.GroupId != nil {
		return *params.GroupId, nil
	}
	text, sent := f.fields["groupId"]
	if !sent {
		return 0, seqlease.InvalidParameter("groupId", "groupId is missing: send it in the query or as a field of the form")
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, seqlease.InvalidParameter("groupId", fmt.Sprintf("groupId must be a whole number, not %.40q", text))
	}
	return id, nil
}
