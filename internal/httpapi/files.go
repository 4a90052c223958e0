package httpapi

import (
	"net/http"

	"github.com/seqlease/seqlease"
)

// refuseAttachment answers whoever wants to upload one.
func (s *server) refuseAttachment(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, &statusError{
		http.StatusBadRequest,
		"file submission is disabled: this server takes no attachments; submit metadata and sequences without them",
	})
}

// RequestUpload refuses an attachment.
func (s *server) RequestUpload(w http.ResponseWriter, r *http.Request) { s.refuseAttachment(w, r) }

// RequestMultipartUpload refuses an attachment.
func (s *server) RequestMultipartUpload(w http.ResponseWriter, r *http.Request) {
	s.refuseAttachment(w, r)
}

// CompleteMultipartUpload refuses an attachment.
func (s *server) CompleteMultipartUpload(w http.ResponseWriter, r *http.Request) {
	s.refuseAttachment(w, r)
}

// GetFile says that there is no attachment, whatever it is called.
func (s *server) GetFile(w http.ResponseWriter, r *http.Request, accession Accession, _, category, name string) {
	s.fail(w, r, seqlease.Explain(seqlease.ErrNotFound, "%s has no attachment %q in category %q: this server has none",
		cut(string(accession), maxShown), cut(name, maxShown), cut(category, maxShown)))
}
