package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seqlease/seqlease"
)

// readParts reads all of a form as an upload is read and counts its parts.
func readParts(t *testing.T, body io.Reader) (int, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=XbX")
	r.Body = newTestBody(t, r.Body, maxUploadBody, newBudget())
	parts, err := multipartBody(r, maxUploadBody, "test form")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		if _, err := parts.next(); errors.Is(err, io.EOF) {
			return n, parts.drain()
		} else if err != nil {
			return n, err
		}
	}
}

func TestMultipart_HeadersOfAPartAreBounded(t *testing.T) {
	t.Parallel()
	const first = "--XbX\r\nContent-Disposition: form-data; name=\"large\"\r\n\r\n"
	contents := strings.Repeat("0123456789\r\n", 20<<10) // is no header, however long
	part := func(headers string) string { return "\r\n--XbX\r\n" + headers + "\r\n\r\nx\r\n--XbX--\r\n" }
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "X-%d: 1\r\n", i)
	}
	for name, tt := range map[string]struct {
		headers string
		fits    bool
	}{
		"just fits":   {"X: " + strings.Repeat("x", maxPartHeaders-100), true},
		"one header":  {"X: " + strings.Repeat("x", maxPartHeaders+8<<10), false},
		"many":        {many.String() + "X: 1", false},
		"no line end": {strings.Repeat("x", 9<<20), false},
	} {
		whole := first + contents + part(tt.headers)
		source := strings.NewReader(whole)
		n, err := readParts(t, source)
		if tt.fits {
			if n != 2 || err != nil {
				t.Errorf("%s: %d parts and %v, want both", name, n, err)
			}
			continue
		}
		if n != 1 || !errors.Is(err, seqlease.ErrTooLarge) || !strings.Contains(err.Error(), "part 2 of the test form") {
			t.Errorf("%s: %d parts and %v, want that the headers of part 2 are too large", name, n, err)
		}
		if read, most := len(whole)-source.Len(), len(first+contents)+maxPartHeaders+16<<10; read > most {
			t.Errorf("%s: %d bytes were read, want at most %d", name, read, most)
		}
	}
}

// endWatch knows whether its end was asked for.
type endWatch struct {
	source io.Reader
	ended  bool
}

func (w *endWatch) Read(p []byte) (int, error) {
	n, err := w.source.Read(p)
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

// TestMultipart_IsReadToTheEndOfTheBody: a request whose body was not, waits for a
// place even when its client has left.
func TestMultipart_IsReadToTheEndOfTheBody(t *testing.T) {
	t.Parallel()
	const form = "--XbX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XbX--\r\n"
	for name, source := range map[string]io.Reader{
		"nothing follows": strings.NewReader(form),
		"byte by byte":    iotest.OneByteReader(strings.NewReader(form)),
		"an epilogue":     io.MultiReader(strings.NewReader(form), bytes.NewReader(make([]byte, 100<<10))),
	} {
		watch := &endWatch{source: source}
		if n, err := readParts(t, watch); n != 1 || err != nil || !watch.ended {
			t.Errorf("%s: %d parts, %v, read to the end: %t", name, n, err, watch.ended)
		}
	}
	broken := io.MultiReader(strings.NewReader(form), iotest.ErrReader(errors.New("cut")))
	if _, err := readParts(t, broken); err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("a body that breaks off after the form: %v", err)
	}
}
