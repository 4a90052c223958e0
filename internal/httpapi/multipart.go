package httpapi

import (
	"bytes"
	"errors"
	"fmt"
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
	end   *tail
	what  string
	count int
}

// multipartBody opens the body of a request; what names it in errors.
func multipartBody(r *http.Request, limit int64, what string) (*multipartReader, error) {
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType(r) != "multipart/form-data" || err != nil || parameters["boundary"] == "" {
		return nil, unsupportedMediaType("send the files as Content-Type: multipart/form-data")
	}
	end := &tail{source: limited(r.Body, limit, what), delimiter: "--" + parameters["boundary"]}
	return &multipartReader{parts: multipart.NewReader(end, parameters["boundary"]), end: end, what: what}, nil
}

// next returns the next part as it came, undecoded, or [io.EOF] after the last.
func (m *multipartReader) next() (*multipart.Part, error) {
	part, err := m.parts.NextRawPart()
	switch {
	case err == io.EOF && m.end.marked():
		// The reader ends so, but also in the headers of a part that breaks off. A
		// wrapped io.EOF is a body that breaks off between parts.
		return nil, io.EOF
	case errors.Is(err, multipart.ErrMessageTooLarge):
		return nil, seqlease.Explain(seqlease.ErrTooLarge, "the headers of a part of the %s are too large", m.what)
	case err != nil:
		return nil, m.fault(err)
	case m.count == maxParts:
		return nil, seqlease.Explain(seqlease.ErrTooLarge, "the %s may have at most %d parts", m.what, maxParts)
	}
	m.count++
	return part, nil
}

// fault says why the next part could not be read.
func (m *multipartReader) fault(err error) error {
	switch {
	case m.end.err != nil && !errors.Is(m.end.err, io.EOF):
		return bodyError(m.end.err)
	case m.count == 0 && !m.end.begun():
		return seqlease.InvalidParameter("body", fmt.Sprintf(
			"the body is no multipart form with the boundary that Content-Type names: there is no line %q", m.end.delimiter))
	case m.end.err != nil:
		return seqlease.InvalidParameter("body", fmt.Sprintf(
			"the body broke off before the closing boundary %q; nothing was stored, send it again", m.end.delimiter+"--"))
	default:
		return seqlease.InvalidParameter("body", cut(fmt.Sprintf("part %d of the form can't be read: %v", m.count+1, err), maxShown))
	}
}

// tailBytes is how much of the end a [tail] keeps: what the multipart reader has
// read ahead beyond the closing boundary, and the line that it stands in.
const tailBytes = 16 << 10

// tail passes a body on and knows whether its end, as far as it was read, has the
// closing boundary at the beginning of a line.
type tail struct {
	source    io.Reader
	delimiter string
	kept      []byte
	err       error // what the source ended with
}

// Read keeps a copy of the last bytes.
func (t *tail) Read(p []byte) (int, error) {
	n, err := t.source.Read(p)
	t.kept = append(t.kept, p[:n]...)
	if surplus := len(t.kept) - tailBytes; surplus > tailBytes {
		t.kept = append(t.kept[:0], t.kept[surplus:]...)
	}
	t.err = err
	return n, err
}

func (t *tail) begun() bool  { return t.hasLine(t.delimiter) }
func (t *tail) marked() bool { return t.hasLine(t.delimiter + "--") }

func (t *tail) hasLine(start string) bool {
	return bytes.HasPrefix(t.kept, []byte(start)) || bytes.Contains(t.kept, []byte("\n"+start))
}
