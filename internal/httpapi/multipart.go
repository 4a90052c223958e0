package httpapi

import (
	"bufio"
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

// maxPartHeaders is how much may stand before the contents of a part. The headers
// are kept in memory while the client takes its time, and the limit of
// [multipart.Reader] is a hundred times as much.
const maxPartHeaders = 64 << 10

// multipartBuffer is how much of a body is read from its connection at once.
const multipartBuffer = 32 << 10

// multipartReader reads the parts of a bounded multipart body one after the other.
type multipartReader struct {
	parts *multipart.Reader
	end   *tail
	last  *multipart.Part
	what  string
	count int
}

// multipartBody opens the body of a request; what names it in errors.
func multipartBody(r *http.Request, limit int64, what string) (*multipartReader, error) {
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType(r) != "multipart/form-data" || err != nil || parameters["boundary"] == "" {
		return nil, unsupportedMediaType("send the files as Content-Type: multipart/form-data")
	}
	if err := checkLength(r, limit, what); err != nil {
		return nil, err
	}
	body := bufio.NewReaderSize(limited(r.Body, limit, what), multipartBuffer) // the reader of parts takes a few kilobytes at a time
	end := &tail{source: body, delimiter: "--" + parameters["boundary"]}
	return &multipartReader{parts: multipart.NewReader(end, parameters["boundary"]), end: end, what: what}, nil
}

// next returns the next part as it came, undecoded, or [io.EOF] after the last.
func (m *multipartReader) next() (*multipart.Part, error) {
	if m.last != nil {
		_ = m.last.Close() // reads to its end, however far that is; a fault comes again below
	}
	m.end.bound(maxPartHeaders, seqlease.Explain(seqlease.ErrTooLarge,
		"the headers of part %d of the %s are larger than %d bytes", m.count+1, m.what, maxPartHeaders))
	part, err := m.parts.NextRawPart()
	m.end.unbound()
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
	m.last = part
	return part, nil
}

// drain reads what follows the last part. Only with the end of a body net/http
// begins to notice that a client leaves.
func (m *multipartReader) drain() error {
	if _, err := io.Copy(io.Discard, m.end); err != nil {
		return bodyError(err)
	}
	return nil
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
	room      int   // how much may be read yet, if over is set
	over      error // what is said beyond
}

// bound has the next reads end with the error over beyond room bytes.
func (t *tail) bound(room int, over error) { t.room, t.over = room, over }
func (t *tail) unbound()                   { t.over = nil }

// Read keeps a copy of the last bytes.
func (t *tail) Read(p []byte) (int, error) {
	if t.over != nil {
		if t.room == 0 {
			t.err = t.over
			return 0, t.err
		}
		p = p[:min(len(p), t.room)]
	}
	n, err := t.source.Read(p)
	t.room -= n
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
