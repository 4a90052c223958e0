package submission

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
)

// Release is the released data of an organism, as of one instant. Close it.
type Release struct {
	// ETag names the state of the data, the day and what is configured of the
	// answer, in double quotes. It rises in plain string order while the
	// configuration stays the same.
	ETag string
	// NotModified: the asker's ETag is the present one; there is nothing to read.
	NotModified bool
	// Count is how many lines the body has.
	Count int64

	submissions *Submissions
	export      *export
}

// Released returns what is released of the organism: all entry versions of the
// current pipeline version from one snapshot, as NDJSON. If the present ETag is
// ifNoneMatch (compared exactly), NotModified is set. The data is read at
// database speed into a spool file, which clients that ask for the same state
// meanwhile share (L12). Errors: [seqlease.ErrUnknownOrganism], the store's.
func (s *Submissions) Released(ctx context.Context, o seqlease.Organism, ifNoneMatch string) (*Release, error) {
	if _, err := s.organisms.Get(o); err != nil {
		return nil, err
	}
	out := s.outlets[o]
	mark, err := s.store.ReleasedMark(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("released data of %s: %w", o, err)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("released data of %s: %w", o, err)
	}
	tag := out.tag(mark, now)
	if tag == ifNoneMatch {
		return &Release{ETag: tag, NotModified: true}, nil
	}
	e, err := s.exportFor(ctx, out, tag)
	if err != nil {
		return nil, fmt.Errorf("released data of %s: %w", o, err)
	}
	r := &Release{submissions: s, export: e}
	select {
	case <-e.begun:
	case <-ctx.Done():
		r.Close()
		return nil, fmt.Errorf("released data of %s: %w", o, ctx.Err())
	}
	if e.beginError != nil {
		r.Close()
		return nil, fmt.Errorf("released data of %s: %w", o, e.beginError)
	}
	r.ETag, r.Count = e.tag, e.count
	return r, nil
}

// Readers of a text cost memory, since each has a decoder, and of released data
// anybody may be one: so many at once, and others wait a while for one to leave.
const (
	maxPlainReaders = 32
	plainWait       = 5 * time.Second
)

// Open returns the body: as text, or as one zstd frame. A failure midway is an
// error of the reader, never an early end (L15). Close the reader before r. The
// error is [seqlease.ErrBusy] if too many read the text at once; the frame costs
// next to nothing and has no such limit.
func (r *Release) Open(ctx context.Context, compressed bool) (io.ReadCloser, error) {
	if compressed {
		return r.export.file.OpenCompressed(ctx), nil
	}
	body, err := openText(ctx, r.export.file, r.submissions.plainReaders)
	if err != nil {
		return nil, fmt.Errorf("released data: %w", err)
	}
	return body, nil
}

// openText opens a file as text when there is a place for one more reader.
func openText(ctx context.Context, file *spool.File, places *semaphore.Weighted) (io.ReadCloser, error) {
	waiting, cancel := context.WithTimeout(ctx, plainWait)
	err := places.Acquire(waiting, 1)
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %d clients read it as text", seqlease.ErrBusy, maxPlainReaders)
	}
	body, err := file.Open(ctx)
	if err != nil {
		places.Release(1)
		return nil, err
	}
	return &plainBody{ReadCloser: body, leave: sync.OnceFunc(func() { places.Release(1) })}, nil
}

// plainBody gives its place to another reader when it is closed.
type plainBody struct {
	io.ReadCloser
	leave func()
}

// Close ends the reading.
func (b *plainBody) Close() error {
	defer b.leave()
	return b.ReadCloser.Close()
}

// Close lets go of the data. When nobody is left who reads it, its reading from
// the database is stopped and its file goes away. Call it once; a release that
// is not modified needs no Close but takes one.
func (r *Release) Close() {
	if r.export != nil {
		r.submissions.leave(r.export)
	}
}
