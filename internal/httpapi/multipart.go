package httpapi

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/seqlease/seqlease"
)

// maxParts is how many parts a multipart body may have.
const maxParts = 100

// multipartReader reads the parts of a bounded multipart body one after the other.
type multipartReader struct {
	parts *multipart.Reader
	what  string
	count int
}

// multipartBody opens the body of a request; what names it in errors.
func multipartBody(r *http.Request, limit int64, what string) (*multipartReader, error) {
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType(r) != "multipart/form-data" || err != nil || parameters["boundary"] == "" {
		return nil, unsupportedMediaType("send the files as Content-Type: multipart/form-data")
	}
	return &multipartReader{parts: multipart.NewReader(limited(r.Body, limit, what), parameters["boundary"]), what: what}, nil
}

// next returns the next part as it came, undecoded, or [io.EOF] after the last.
func (m *multipartReader) next() (*multipart.Part, error) {
	part, err := m.parts.NextRawPart()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, multipart.ErrMessageTooLarge):
		return nil, seqlease.Explain(seqlease.ErrTooLarge, "the headers of a part of the %s are too large", m.what)
	case err != nil:
		return nil, bodyError(err)
	case m.count == maxParts:
		return nil, seqlease.Explain(seqlease.ErrTooLarge, "the %s may have at most %d parts", m.what, maxParts)
	}
	m.count++
	return part, nil
}
