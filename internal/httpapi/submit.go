package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// maxPartField is how long a plain field of an upload may be.
const maxPartField = 64 << 10

// uploadOperation is the operation whose multipart form is an upload.
const uploadOperation = "POST /{organism}/submit"

// idempotencyHeader asks that a repeated request stores nothing twice. Who sends
// it relies on that, so it is refused rather than ignored.
const idempotencyHeader = "Idempotency-Key"

// Submit stores an upload. Its files go to disk as they come, in whatever order,
// and are looked at when all have come and there is a place. A compressed body
// stays compressed until then, so that few unpack to large files at once.
func (s *server) Submit(w http.ResponseWriter, r *http.Request, o Organism, params SubmitParams) {
	if params.IdempotencyKey != nil {
		s.fail(w, r, seqlease.InvalidParameter(idempotencyHeader,
			idempotencyHeader+" is not supported: send the request without it; each one that answers 200 stores its entries anew"))
		return
	}
	if _, err := s.organisms.Get(o); err != nil {
		s.fail(w, r, err)
		return
	}
	stored, err := s.takeUpload(r, o, params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, stored)
}

// takeUpload does the work. Its files are gone when it returns: the client may
// take the answer as slowly as it likes.
func (s *server) takeUpload(r *http.Request, o Organism, params SubmitParams) ([]seqlease.SubmissionIDMapping, error) {
	form := &uploadForm{dir: s.submissions.Spool(), fields: map[string]string{}, files: map[string]*intake.File{}}
	defer form.remove()
	body := bodyOf(r)
	if err := s.takeForm(r, body, form); err != nil {
		return nil, err
	}
	request, err := form.request(o, params)
	if err != nil {
		return nil, err
	}
	request.Large = body.holdLarge
	person, _ := personOf(r.Context())
	return s.submissions.Submit(r.Context(), person, request)
}

// takeForm reads the form and waits for a place.
func (s *server) takeForm(r *http.Request, body *requestBody, form *uploadForm) error {
	if body.open == nil {
		if err := form.read(r); err != nil {
			return err
		}
		return body.hold(r.Context(), s.budget.uploads)
	}
	if err := body.fetch(); err != nil {
		return err
	}
	if err := body.hold(r.Context(), s.budget.uploads); err != nil {
		return err
	}
	err := form.read(r)
	body.discard()
	return err
}

// uploadForm is a multipart body: its plain fields and its two files, which lie
// in temporary files.
type uploadForm struct {
	dir    *spool.Dir
	fields map[string]string
	files  map[string]*intake.File
	disk   []*spool.Scratch
	buffer []byte
}

// The names of the parts that hold files.
const (
	metadataPart = "metadataFile"
	sequencePart = "sequenceFile"
)

// read reads all parts. Parts with other names than the protocol's are skipped.
func (f *uploadForm) read(r *http.Request) error {
	parts, err := multipartBody(r, maxUploadBody, "upload")
	if err != nil {
		return err
	}
	for {
		part, err := parts.next()
		if errors.Is(err, io.EOF) {
			return parts.drain()
		}
		if err != nil {
			return err
		}
		if err := f.take(part); err != nil {
			return err
		}
	}
}

func (f *uploadForm) take(part *multipart.Part) error {
	switch name := part.FormName(); name {
	case metadataPart, sequencePart:
		return f.spool(part)
	case "groupId", "dataUseTermsType", "restrictedUntil":
		value, err := io.ReadAll(limited(part, maxPartField, "part "+name))
		if err != nil {
			return bodyError(err)
		}
		if _, twice := f.fields[name]; !twice {
			f.fields[name] = string(value)
		}
	}
	return nil
}

// spool copies a file to disk. Its name is only looked at, never used as a path.
func (f *uploadForm) spool(part *multipart.Part) error {
	name := part.FormName()
	if f.files[name] != nil {
		return seqlease.InvalidParameter(name, "the part "+name+" occurs twice")
	}
	disk, err := f.dir.CreateScratch()
	if err != nil {
		return err
	}
	f.disk = append(f.disk, disk)
	if f.buffer == nil {
		f.buffer = make([]byte, memoryBody)
	}
	if _, err = io.CopyBuffer(disk, part, f.buffer); err != nil {
		return bodyError(err)
	}
	f.files[name] = &intake.File{Name: part.FileName(), Open: func() (io.ReadCloser, error) {
		return diskFile{disk.Open()}, nil
	}}
	return nil
}

// diskFile is a view of a spooled file; the form closes the file itself.
type diskFile struct{ *io.SectionReader }

// Close does nothing.
func (diskFile) Close() error { return nil }

// remove deletes the files.
func (f *uploadForm) remove() {
	for _, disk := range f.disk {
		_ = disk.Close() // it is going away
	}
}

// request joins the form with the query, which wins.
func (f *uploadForm) request(o Organism, params SubmitParams) (submission.SubmitRequest, error) {
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
	if params.GroupId != nil {
		request.GroupID = *params.GroupId
		return request, nil
	}
	text, sent := f.fields["groupId"]
	if !sent {
		return request, seqlease.InvalidParameter("groupId", "groupId is missing: send it in the query or as a field of the form")
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return request, seqlease.InvalidParameter("groupId", fmt.Sprintf("groupId must be a whole number, not %.40q", text))
	}
	request.GroupID = id
	return request, nil
}
