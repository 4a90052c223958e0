package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
// and are looked at when all have come and there is a place; one upload at a time is
// checked while it comes. A compressed body stays compressed until then, so that few
// unpack to large files at once.
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
	writeMappings(w, stored)
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

// takeUpload does the work. Its files are gone when it returns: the client may
// take the answer as slowly as it likes.
func (s *server) takeUpload(r *http.Request, o Organism, params SubmitParams) ([]seqlease.SubmissionIDMapping, error) {
	form := &uploadForm{dir: s.submissions.Spool(), stall: s.stall, fields: map[string]string{}, files: map[string]*intake.File{}}
	defer form.remove()
	body := bodyOf(r)
	if body.open == nil {
		ctx := r.Context()
		form.arriving = func(metadata, sequences *intake.File) *submission.Check {
			if !s.budget.arriving.TryAcquire(1) {
				return nil
			}
			return s.submissions.BeginCheck(ctx, o, metadata, sequences, func(kept int64) bool {
				s.budget.arriving.Release(1) // the client may take its time with the rest of the form
				if !s.budget.checked.TryAcquire(kept) {
					return false
				}
				form.leave = func() { s.budget.checked.Release(kept) }
				return true
			})
		}
	}
	if err := s.takeForm(r, body, form); err != nil {
		return nil, err
	}
	request, err := form.request(o, params)
	if err != nil {
		return nil, err
	}
	request.Large, request.Check = body.holdLarge, form.check
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
	// arriving, if set, may begin to check files of which the second is on its way.
	arriving func(metadata, sequences *intake.File) *submission.Check
	stall    time.Duration     // after which a client is cut off
	check    *submission.Check // nil: not begun
	leave    func()            // when the check has ended: gives back its memory; nil: none
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
		f.buffer = make([]byte, multipartBuffer)
	}
	err = f.copy(part, disk)
	disk.Finish(err)
	if err != nil {
		return err
	}
	f.files[name] = &intake.File{Name: part.FileName(), Open: func() (io.ReadCloser, error) {
		return diskFile{disk.Open()}, nil
	}}
	return nil
}

// copy writes a part to its file.
func (f *uploadForm) copy(part *multipart.Part, disk *spool.Scratch) (err error) {
	for err == nil {
		var n int
		n, err = fill(part, f.buffer) // a part is read in small pieces
		if _, failed := disk.Write(f.buffer[:n]); failed != nil {
			return failed
		}
		if err == nil {
			f.arrives(part, disk)
		}
	}
	if !errors.Is(err, io.EOF) {
		return bodyError(err)
	}
	return nil
}

// arrivalSteps is by how much sooner than a stalled client is cut off the check of its
// upload gives up: after a second of a minute. It is made again when all has come.
const arrivalSteps = 60

// arrives begins the check when there are metadata and more sequences than a buffer
// holds.
func (f *uploadForm) arrives(part *multipart.Part, disk *spool.Scratch) {
	metadata := f.files[metadataPart]
	if f.arriving == nil || metadata == nil || part.FormName() != sequencePart {
		return
	}
	f.check = f.arriving(metadata, &intake.File{Name: part.FileName(), Open: func() (io.ReadCloser, error) {
		return disk.Follow(f.stall / arrivalSteps), nil
	}})
	f.arriving = nil
}

// diskFile is a view of a spooled file; the form closes the file itself.
type diskFile struct{ *io.SectionReader }

// Close does nothing.
func (diskFile) Close() error { return nil }

// remove deletes the files.
func (f *uploadForm) remove() {
	if f.check != nil {
		f.check.Close()
		if f.leave != nil {
			f.leave()
		}
	}
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
