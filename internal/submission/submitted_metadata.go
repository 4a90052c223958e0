package submission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
)

// SubmittedMetadataRequest says which metadata to read. Nil and empty lists take
// everything.
type SubmittedMetadataRequest struct {
	Organism seqlease.Organism
	Fields   []string // the keys of each line's metadata; none: all that were submitted
	Entries  []seqlease.AccessionVersion
	GroupIDs []int64
	Statuses []seqlease.Status
}

// SubmittedMetadata is the submitted metadata of entries as of one instant, on its
// way into a file. Close it.
type SubmittedMetadata struct {
	// Count is how many lines the body has.
	Count int64

	file    *spool.File
	cancel  context.CancelFunc
	done    chan struct{} // closed when the writing goroutine has ended
	readers *semaphore.Weighted
}

// SubmittedMetadata returns what was submitted of the metadata of entry versions,
// one line for each of those that the person may see, by accession and version. It
// is read at database speed into a spool file, which is read from there also while it
// grows (L12); the reading ends with ctx or Close. Errors: [seqlease.ErrUnknownOrganism],
// [*seqlease.InvalidError], [seqlease.ErrNotFound] and [seqlease.ErrForbidden] for
// the groups, the store's.
func (s *Submissions) SubmittedMetadata(ctx context.Context, p seqlease.Person, r SubmittedMetadataRequest) (*SubmittedMetadata, error) {
	if _, err := s.organisms.Get(r.Organism); err != nil {
		return nil, err
	}
	for _, e := range r.Entries {
		if err := checkAccessions("accessionVersionsFilter", []seqlease.Accession{e.Accession}); err != nil {
			return nil, err
		}
	}
	groups, err := s.visibleGroups(ctx, p, orNil(r.GroupIDs))
	if err != nil {
		return nil, err
	}
	filter := SubmittedFilter{Organism: r.Organism, Entries: orNil(distinct(r.Entries)), GroupIDs: groups, Statuses: orNil(r.Statuses)}
	m, err := s.writeMetadata(ctx, filter, keysOnce(r.Fields))
	if err != nil {
		return nil, fmt.Errorf("submitted metadata of %s: %w", r.Organism, err)
	}
	return m, nil
}

// writeMetadata begins to fill a file and returns when the number of its lines is known.
func (s *Submissions) writeMetadata(ctx context.Context, filter SubmittedFilter, fields []string) (*SubmittedMetadata, error) {
	file, err := s.options.Spool.Create()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	m := &SubmittedMetadata{file: file, cancel: cancel, done: make(chan struct{}), readers: s.submittedReaders}
	begun := make(chan error, 1)
	go func() {
		defer close(m.done)
		told := false
		err := Caught(func() error {
			lines := &metadataLines{store: s.store, fields: fields, to: file}
			err := s.store.ReadSubmitted(ctx, filter, func(head SubmittedHead) error {
				m.Count, told = head.Count, true
				begun <- nil
				return nil
			}, func(e SubmittedEntry) error { return lines.add(ctx, e) })
			if err == nil && (!told || lines.written != m.Count) {
				err = fmt.Errorf("%d lines were written, but %d counted", lines.written, m.Count)
			}
			return err
		})
		if err = file.Finish(err); !told {
			begun <- err
		}
	}()
	if err := <-begun; err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Open returns the body: as text, or as one zstd frame. A failure midway is an
// error of the reader, never an early end (L15). Close the reader before m. The
// error is [seqlease.ErrBusy] if too many read as text at once.
func (m *SubmittedMetadata) Open(ctx context.Context, compressed bool) (io.ReadCloser, error) {
	if compressed {
		return m.file.OpenCompressed(ctx), nil
	}
	body, err := openText(ctx, m.file, m.readers)
	if err != nil {
		return nil, fmt.Errorf("submitted metadata: %w", err)
	}
	return body, nil
}

// Close stops the reading from the database, if it still goes on, and removes the file.
func (m *SubmittedMetadata) Close() {
	m.cancel()
	<-m.done
	m.file.Release()
}

// metadataLines writes the lines of the answer.
type metadataLines struct {
	store   SubmittedStore
	fields  []string // nil: all
	to      io.Writer
	written int64
	line    []byte
	decoder jsontext.Decoder
}

// add writes the line of an entry. Of its document, the sequences behind the
// metadata aren't looked at.
func (w *metadataLines) add(ctx context.Context, e SubmittedEntry) error {
	document, err := e.document(ctx, w.store)
	if err != nil {
		return err
	}
	w.decoder.Reset(bytes.NewBuffer(document))
	metadata, err := metadataIn(&w.decoder)
	if err != nil {
		return fmt.Errorf("%s: submitted data: %w", e.AccessionVersion, err)
	}
	line := appendText(append(w.line[:0], `{"accession":`...), string(e.Accession))
	line = strconv.AppendInt(append(line, `,"version":`...), int64(e.Version), 10)
	line = appendText(append(line, `,"submitter":`...), e.Submitter)
	line = strconv.AppendBool(append(line, `,"isRevocation":`...), e.IsRevocation)
	line = append(line, `,"submittedMetadata":`...)
	if w.fields == nil {
		line = append(line, metadata...)
	} else if line, err = appendFields(line, metadata, w.fields); err != nil {
		return fmt.Errorf("%s: submitted metadata: %w", e.AccessionVersion, err)
	}
	line = append(oneLine(append(line, '}'), 0), '\n')
	if w.line = line; cap(line) > keptLine {
		w.line = nil
	}
	if _, err := w.to.Write(line); err != nil {
		return err
	}
	w.written++
	return nil
}

// keptLine is how much memory is kept from one line to the next.
const keptLine = 64 << 10

// errNotSubmittedData is a document that isn't what was stored.
var errNotSubmittedData = errors.New("it is no document of submitted data")

// metadataIn returns the member "metadata" of the document; it is an object, and
// valid until the decoder goes on.
func metadataIn(d *jsontext.Decoder) (jsontext.Value, error) {
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(errNotSubmittedData, err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		if name.String() == "metadata" {
			value, err := d.ReadValue()
			if err == nil && value.Kind() != '{' {
				return jsontext.Value("{}"), nil
			}
			return value, err
		}
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	return nil, errNotSubmittedData
}

// appendFields appends an object with exactly these keys.
func appendFields(dst []byte, metadata jsontext.Value, fields []string) ([]byte, error) {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(metadata, &values); err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, field), ':')
		if value, found := values[field]; found {
			dst = append(dst, value...)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}'), nil
}

// keysOnce returns the fields in their order, once each; nil for none.
func keysOnce(fields []string) []string {
	var keys []string
	seen := make(map[string]bool, len(fields))
	for _, field := range fields {
		if !seen[field] {
			seen[field] = true
			keys = append(keys, field)
		}
	}
	return keys
}
