package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// reviseOperation is the operation that stores new versions of entries.
const reviseOperation = "POST /{organism}/revise"

// Revise stores an upload of new versions of released entries. It has no parameters but
// its files: plain fields of the form are passed over.
func (s *server) Revise(w http.ResponseWriter, r *http.Request, o Organism, params ReviseParams) {
	s.answerUpload(w, r, uploading{
		organism: o, key: params.IdempotencyKey, revision: true,
		store: func(form *uploadForm) ([]seqlease.SubmissionIDMapping, error) {
			person, _ := personOf(r.Context())
			return s.submissions.Revise(r.Context(), person, submission.ReviseRequest{
				Organism: o, Metadata: form.files[metadataPart], Sequences: form.files[sequencePart],
				Large: bodyOf(r).holdLarge, Check: form.check,
				Key: form.uploadKey(params.IdempotencyKey, reviseOperation, string(o)),
			})
		},
	})
}
