package submission

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seqlease/seqlease"
)

// Release is the released data of an organism, as of one instant. Close it.
type Release struct {
	// ETag names the state of the data and the day, in double quotes. It rises in
	// plain string order.
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
	configured, err := s.organisms.Get(o)
	if err != nil {
		return nil, err
	}
	mark, err := s.store.ReleasedMark(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("released data of %s: %w", o, err)
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("released data of %s: %w", o, err)
	}
	tag := releaseTag(mark, now)
	if tag == ifNoneMatch {
		return &Release{ETag: tag, NotModified: true}, nil
	}
	e, err := s.exportFor(ctx, configured, tag)
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

// Open returns the body: as text, or as one zstd frame. A failure midway is an
// error of the reader, never an early end (L15). Close the reader before r.
func (r *Release) Open(ctx context.Context, compressed bool) (io.ReadCloser, error) {
	if compressed {
		return r.export.file.OpenCompressed(ctx), nil
	}
	body, err := r.export.file.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("released data: %w", err)
	}
	return body, nil
}

// Close lets go of the data. When nobody is left who reads it, its reading from
// the database is stopped and its file goes away. Call it once; a release that
// is not modified needs no Close but takes one.
func (r *Release) Close() {
	if r.export != nil {
		r.submissions.leave(r.export)
	}
}

// releaseTag adds the UTC day to the mark, because restrictions lapse without a write.
func releaseTag(mark string, now time.Time) string {
	return `"` + mark + "|" + now.UTC().Format(time.DateOnly) + `"`
}
