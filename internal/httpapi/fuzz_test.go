package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease/internal/intake"
)

// FuzzMultipart: a form that anybody may send is read whole, as the standard library
// reads it, or refused with words; nothing is left of it.
func FuzzMultipart(f *testing.F) {
	form := func(parts ...string) []byte {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		if err := w.SetBoundary("XbX"); err != nil {
			f.Fatal(err)
		}
		for i := 0; i < len(parts); i += 2 {
			to, err := w.CreateFormFile(parts[i], "m.tsv")
			if err != nil {
				f.Fatal(err)
			}
			if _, err := io.WriteString(to, parts[i+1]); err != nil {
				f.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	whole := form(metadataPart, "id\tc\na\tx\n", "groupId", "1", sequencePart, ">a\r\n--XbY\r\nACGT\n")
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(whole[:len(whole)-4])
	f.Add(form(metadataPart, "a", metadataPart, "b"))
	f.Add(form())
	f.Add([]byte("--XbX\r\nContent-Disposition: form-data; name=\"groupId\"\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--XbX--"))
	f.Fuzz(func(t *testing.T, content []byte) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=XbX")
		body := newTestBody(t, bytes.NewReader(content), maxUploadBody, newBudget())
		r.Body = body
		u := &uploadForm{dir: body.dir, fields: map[string]string{}, files: map[string]*intake.File{}, sums: map[string][]byte{}}
		err := u.read(r)
		defer u.remove()
		if err != nil {
			if p, known := problemOf(err); !known || p.Status < 400 || p.Status >= 500 || p.Detail == "" {
				t.Fatalf("not a refusal: %v (%+v)", err, p)
			}
			return
		}
		want := multipart.NewReader(bytes.NewReader(content), "XbX")
		found := 0
		for {
			part, err := want.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the library reads no further: %v", err)
			}
			text, err := io.ReadAll(part)
			if err != nil {
				t.Fatalf("the library reads no further: %v", err)
			}
			file := u.files[part.FormName()]
			if file == nil {
				continue
			}
			found++
			opened, err := file.Open()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(opened); err != nil || !bytes.Equal(got, text) || file.Name != part.FileName() || len(u.sums[part.FormName()]) != 32 {
				t.Errorf("part %q is %q as %q, %v; want %q as %q", part.FormName(), got, file.Name, err, text, part.FileName())
			}
		}
		if found != len(u.files) {
			t.Errorf("%d files, the library finds %d", len(u.files), found)
		}
	})
}

// FuzzContentEncoding: what a compressed body unpacks to is bounded, or it is refused
// with words.
func FuzzContentEncoding(f *testing.F) {
	const limit = 64 << 10
	zeros := make([]byte, 4<<20) // a bomb
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	if _, err := to.Write(zeros); err != nil {
		f.Fatal(err)
	}
	if err := to.Close(); err != nil {
		f.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("gzip", packed.Bytes())
	f.Add("gzip", packed.Bytes()[:packed.Len()/2])
	f.Add("zstd", encoder.EncodeAll(zeros, nil))
	f.Add("zstd", encoder.EncodeAll([]byte(`{"accession":"A"}`), nil))
	f.Add("x-gzip", []byte("plain"))
	f.Add("br", []byte("plain"))
	f.Fuzz(func(t *testing.T, encoding string, content []byte) {
		s := &server{budget: newBudget()}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.Header.Set("Content-Encoding", encoding)
		open, err := s.decoding(r)
		if err == nil {
			body := newTestBody(t, bytes.NewReader(content), maxUploadBody, s.budget)
			body.open = open
			var n int64
			if n, err = io.Copy(io.Discard, limited(body, limit, "test body")); n > limit {
				t.Errorf("%d bytes came out, the limit is %d", n, limit)
			}
			if err != nil {
				err = bodyError(err)
			}
			body.discard()
		}
		if err == nil || errors.Is(err, context.Canceled) {
			return
		}
		if p, known := problemOf(err); !known || p.Status < 400 || p.Status >= 500 || p.Detail == "" {
			t.Errorf("not a refusal: %v (%+v)", err, p)
		}
	})
}
