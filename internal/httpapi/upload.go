package httpapi

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/submission"
)

// maxPartField is how long a plain field of an upload may be.
const maxPartField = 64 << 10

// isUpload says whether the multipart form of an operation is an upload.
func isUpload(operation string) bool {
	return operation == submitOperation || operation == reviseOperation
}

// uploading is an upload and how it is stored once its form was read.
type uploading struct {
	organism Organism
	key      *string // what the client calls it; nil: nothing
	revision bool
	store    func(form *uploadForm) ([]seqlease.SubmissionIDMapping, error)
}

// answerUpload stores an upload and answers what it has made. Its files go to disk as
// they come, in whatever order, and are looked at when all have come and there is a
// place; one upload at a time is checked while it comes. A compressed body stays
// compressed until then, so that few unpack to large files at once.
func (s *server) answerUpload(w http.ResponseWriter, r *http.Request, u uploading) {
	if _, err := s.organisms.Get(u.organism); err != nil {
		s.fail(w, r, err)
		return
	}
	if u.key != nil {
		if err := submission.CheckUploadKey(*u.key); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	stored, err := s.takeUpload(r, u)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeMappings(w, stored)
}

// takeUpload does the work. Its files are gone when it returns: the client may
// take the answer as slowly as it likes.
func (s *server) takeUpload(r *http.Request, u uploading) ([]seqlease.SubmissionIDMapping, error) {
	form := &uploadForm{dir: s.submissions.Spool(), stall: s.stall, files: map[string]*intake.File{}}
	if !u.revision {
		form.fields = map[string]string{}
	}
	if u.key != nil {
		form.sums = map[string][]byte{}
	}
	defer form.remove()
	body := bodyOf(r)
	if body.open == nil {
		ctx := r.Context()
		form.arriving = func(metadata, sequences *intake.File) *submission.Check {
			if !s.budget.arriving.TryAcquire(1) {
				return nil
			}
			files := submission.Arriving{Organism: u.organism, Revision: u.revision, Metadata: metadata, Sequences: sequences}
			return s.submissions.BeginCheck(ctx, files, func(kept int64) bool {
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
	return u.store(form)
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
	fields map[string]string // nil: they are passed over
	files  map[string]*intake.File
	sums   map[string][]byte // of the files, by part; nil: nobody needs them
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
		if f.fields == nil {
			return nil
		}
		value, err := io.ReadAll(limited(part, maxPartField, "part "+name))
		if err != nil {
			return bodyError(err)
		}
		if before, twice := f.fields[name]; twice && before != string(value) {
			return seqlease.InvalidParameter(name, "the field "+name+" occurs twice with different values")
		} else if !twice {
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
	if part.FileName() == "" && disk.Size() == 0 {
		return nil // what a browser sends for a file that nobody has chosen (HTML, "constructing the entry list")
	}
	f.files[name] = &intake.File{Name: part.FileName(), Open: func() (io.ReadCloser, error) {
		return diskFile{disk.Open()}, nil
	}}
	return nil
}

// copy writes a part to its file.
func (f *uploadForm) copy(part *multipart.Part, disk *spool.Scratch) (err error) {
	sum := sha256.New()
	if f.sums != nil {
		defer func() { f.sums[part.FormName()] = sum.Sum(nil) }()
	}
	for err == nil {
		var n int
		n, err = fill(part, f.buffer) // a part is read in small pieces
		if f.sums != nil {
			_, _ = sum.Write(f.buffer[:n]) // never fails
		}
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

// uploadKey returns what the client calls this upload, nil for nothing. The digest is of
// what was asked for, in words that say all but the files, of the files' names and of
// their bytes as they were before the request was packed: not of how they were sent.
func (f *uploadForm) uploadKey(key *string, asked ...string) *submission.UploadKey {
	if key == nil {
		return nil
	}
	sum := sha256.New()
	add := func(text string) {
		_, _ = sum.Write(binary.AppendUvarint(nil, uint64(len(text)))) // never fails
		_, _ = io.WriteString(sum, text)
	}
	for _, word := range asked {
		add(word)
	}
	for _, part := range []string{metadataPart, sequencePart} {
		if file := f.files[part]; file != nil {
			add(part)
			add(file.Name)
			add(string(f.sums[part]))
		}
	}
	return &submission.UploadKey{Key: *key, Digest: [sha256.Size]byte(sum.Sum(nil))}
}
