package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
)

// Limits of request bodies, after decompression.
const (
	maxFormBody   = 64 << 10
	maxGroupBody  = 64 << 10
	maxJSONBody   = 32 << 20
	maxResultBody = 1 << 30
	maxUploadBody = 5000 << 20
)

// maxWindow is the largest zstd window that HTTP allows (RFC 9659).
const maxWindow = 8 << 20

// progressBytes is how much of a body must come within the stall timeout.
const progressBytes = 4 << 10

// prepareBody makes the body of a request readable: bounded in time,
// decompressed, and a form merged into the query. Other bodies, and the form that
// holds an upload, are not read. What the request holds is released with the
// beginning of its answer.
func (s *server) prepareBody(w *response, r *http.Request, operation string) error {
	// What reads the parameters leaves out those that it can't read: a filter would be
	// gone and the answer would hold more than was asked for.
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return seqlease.InvalidParameter("query", fmt.Sprintf("the query can't be read: %v; write each parameter as name=value, percent-encoded, with & between them", err))
	}
	body := &requestBody{
		source: &patientBody{ReadCloser: r.Body, answer: w},
		dir:    s.submissions.Spool(), budget: s.budget, limit: maxJSONBody, what: "body",
	}
	switch {
	case isUpload(operation):
		body.limit, body.what = maxUploadBody, "upload"
	case operation == resultsOperation:
		body.limit, body.what = maxResultBody, "result body"
	case operation == externalOperation:
		body.limit, body.what = maxExternalBody, externalBody
	}
	body.raw = body.source
	w.beforeAnswer = body.release
	if err := checkLength(r, body.limit, body.what); err != nil {
		return err
	}
	var err error
	if body.open, err = s.decoding(r); err != nil {
		return err
	}
	if body.open != nil {
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
	}
	r.Body = body
	if o, is := s.description.strict[operation]; is {
		body.strict = &o
	}
	switch kind := mediaType(r); {
	case body.strict != nil && body.strict.takesJSON: // a form in its place is told so
	case kind == "application/x-www-form-urlencoded":
		err = mergeForm(r)
	case kind == "multipart/form-data" && !isUpload(operation):
		err = mergeMultipart(r)
	}
	if err != nil || body.strict == nil {
		return err
	}
	return body.strict.refuseParameters(r.URL.Query())
}

// mediaType returns the type of the body in lower case, without parameters.
func mediaType(r *http.Request) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return t
}

// decoding says how to undo the one content encoding of a body; nil if there is
// none.
func (s *server) decoding(r *http.Request) (open func(raw io.Reader) (io.Reader, func(), error), err error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	switch encoding {
	case "", "identity":
		return nil, nil
	case "gzip", "x-gzip":
		return func(raw io.Reader) (io.Reader, func(), error) {
			decoder, err := gzip.NewReader(raw)
			return decoder, nil, err
		}, nil
	case "zstd":
		ctx := r.Context()
		return func(raw io.Reader) (io.Reader, func(), error) {
			if err := s.budget.windows.Acquire(ctx, 1); err != nil {
				return nil, nil, err
			}
			decoder, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				s.budget.windows.Release(1)
				return nil, nil, err
			}
			return decoder, func() { decoder.Close(); s.budget.windows.Release(1) }, nil
		}, nil
	default:
		return nil, unsupportedMediaType(fmt.Sprintf("content encoding %q: send gzip or zstd, one of them, or none", encoding))
	}
}

func decodeError(err error) error {
	var ours *diskError
	switch {
	case errors.As(err, &ours):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return seqlease.Explain(seqlease.ErrTooLarge, "the body needs a zstd window of more than %d bytes: compress it without --ultra or --long", maxWindow)
	default:
		return seqlease.InvalidParameter("Content-Encoding", fmt.Sprintf("the body can't be decompressed: %v", err))
	}
}

// patientBody cuts off clients that send next to nothing for a stall timeout.
type patientBody struct {
	io.ReadCloser
	answer *response
	owed   int // bytes to come before the deadline moves on
}

// Read moves the deadline on as bytes come in and lifts it at the end: what
// follows is the answer, during which the client is silent.
func (b *patientBody) Read(p []byte) (int, error) {
	if b.owed <= 0 {
		b.owed = progressBytes
		b.answer.unread = false
		_ = b.answer.control.SetReadDeadline(time.Now().Add(b.answer.stall)) // not supported by recorders in tests: no limit there
	}
	n, err := b.ReadCloser.Read(p)
	b.owed -= n
	if errors.Is(err, io.EOF) {
		_ = b.answer.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// checkLength refuses a body that is said to be larger than the limit before anything of
// it is read: a client that waits for our consent (Expect: 100-continue) then sends none.
func checkLength(r *http.Request, limit int64, what string) error {
	if r.ContentLength > limit {
		return tooLong(limit, what)
	}
	return nil
}

func tooLong(limit int64, what string) error {
	return seqlease.Explain(seqlease.ErrTooLarge, "the %s may have at most %d bytes", what, limit)
}

// limited returns the body bounded to limit bytes; what says which body it is.
func limited(body io.Reader, limit int64, what string) io.Reader {
	return &limitedReader{body: body, left: limit, err: tooLong(limit, what)}
}

type limitedReader struct {
	body io.Reader
	left int64
	err  error
}

// Read returns the limit's error with the first byte beyond it.
func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	if int64(n) > l.left {
		n = int(l.left)
		l.left = 0
		return n, l.err
	}
	l.left -= int64(n)
	return n, err
}

// mergeForm adds the fields of a form body to the query, which wins.
func mergeForm(r *http.Request) error {
	if err := checkLength(r, maxFormBody, "form body"); err != nil {
		return err
	}
	text, err := io.ReadAll(limited(r.Body, maxFormBody, "form body"))
	if err != nil {
		return bodyError(err)
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return seqlease.InvalidParameter("body", fmt.Sprintf("the form body can't be read: %v", err))
	}
	merge(r, form)
	return nil
}

// mergeMultipart does the same for the plain fields of a multipart form. Files
// in it are skipped.
func mergeMultipart(r *http.Request) error {
	parts, err := multipartBody(r, maxFormBody, "form body")
	if err != nil {
		return err
	}
	form := url.Values{}
	for {
		part, err := parts.next()
		if errors.Is(err, io.EOF) {
			merge(r, form)
			return parts.drain()
		}
		if err != nil {
			return err
		}
		if part.FileName() != "" || part.FormName() == "" {
			continue
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return bodyError(err)
		}
		form.Add(part.FormName(), string(value))
	}
}

func merge(r *http.Request, form url.Values) {
	query := r.URL.Query()
	for name, values := range form {
		if !query.Has(name) {
			query[name] = values
		}
	}
	r.URL.RawQuery = query.Encode()
}
