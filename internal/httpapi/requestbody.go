package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"golang.org/x/sync/semaphore"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
)

// memoryBody is how much of a body is kept in memory; longer ones go to disk.
const memoryBody = 16 << 10

// requestBody is the body of a request and what its work holds of the server's
// memory. A body that is compressed or costs memory to read is fetched to disk
// first, so that no slow client keeps anybody else waiting.
type requestBody struct {
	source  io.ReadCloser // as the client sends it
	dir     *spool.Dir
	limit   int64  // of what is fetched
	what    string // names the body in errors
	fetched bool
	raw     io.Reader // source, or what was fetched of it
	scratch *spool.Scratch
	strict  *strict // nil: unknown members are ignored

	// open begins to decompress; nil if there is nothing to. close ends it.
	open    func(raw io.Reader) (decoded io.Reader, close func(), err error)
	decoded io.Reader
	close   func()
	err     error

	budget   *budget
	places   []*semaphore.Weighted // held until the answer begins
	large    bool                  // holds budget.large
	streamed bool                  // holds budget.streams, see stream
	settled  bool                  // see settle
	working  bool                  // holds budget.turns until the next read of a streamed body
}

// fetch takes all of the body from the client. Further calls do nothing.
func (b *requestBody) fetch() error {
	if b.fetched {
		return nil
	}
	b.fetched = true
	buffer := make([]byte, memoryBody)
	source := limited(b.source, b.limit, b.what)
	for {
		n, err := fill(source, buffer)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return bodyError(&readError{err})
		case err != nil && b.scratch == nil:
			b.raw = bytes.NewReader(buffer[:n])
			return nil
		}
		if b.scratch == nil {
			var failed error
			if b.scratch, failed = b.dir.CreateScratch(); failed != nil {
				return failed
			}
		}
		if _, failed := b.scratch.Write(buffer[:n]); failed != nil {
			return failed
		}
		if err != nil {
			b.raw = diskReader{b.scratch.Open()}
			return nil //nolint:nilerr // it is the end
		}
	}
}

// fill reads until the buffer is full; the error says why it is not.
func fill(source io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = source.Read(buffer[n:])
		n += more
	}
	return n, err
}

// Read gives the bytes, decompressed. What can't be is an invalid request.
func (b *requestBody) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.open == nil:
		return b.readRaw(p)
	case b.decoded == nil:
		if b.err = b.begin(); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.decoded.Read(p)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = decodeError(err)
		}
		b.err = err
		b.endDecoding()
	}
	return n, err
}

func (b *requestBody) readRaw(p []byte) (int, error) {
	n, err := b.raw.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !b.fetched {
		err = &readError{err}
	}
	return n, err
}

func (b *requestBody) begin() (err error) {
	if err := b.fetch(); err != nil {
		return err
	}
	if b.decoded, b.close, err = b.open(b.raw); err != nil {
		return decodeError(err)
	}
	return nil
}

func (b *requestBody) endDecoding() {
	if b.close != nil {
		b.close()
	}
	b.decoded, b.close = nil, nil
}

// Close closes the body as it came.
func (b *requestBody) Close() error { return b.source.Close() }

// hold waits for a place and keeps it until release.
func (b *requestBody) hold(ctx context.Context, places *semaphore.Weighted) error {
	if err := places.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for a place: %w", err)
	}
	b.places = append(b.places, places)
	return nil
}

// holdLarge waits until no other request needs much memory. Further calls do
// nothing.
func (b *requestBody) holdLarge(ctx context.Context) error {
	if b.large {
		return nil
	}
	if err := b.budget.large.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for memory: %w", err)
	}
	b.large = true
	return nil
}

func (b *requestBody) releaseLarge() {
	if b.large {
		b.large = false
		b.budget.large.Release(1)
	}
}

// discard gives back the disk space of what was read.
func (b *requestBody) discard() {
	b.endDecoding()
	b.err = os.ErrClosed
	if b.scratch != nil {
		_ = b.scratch.Close() // it is going away
		b.scratch = nil
	}
}

// release gives everything back. Nothing may be read afterwards.
func (b *requestBody) release() {
	b.discard()
	b.endStream()
	b.releaseLarge()
	for _, places := range b.places {
		places.Release(1)
	}
	b.places = nil
}

// readError is a fault of what the client sends, to tell it from those of our own
// disk.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// Unwrap returns what the connection said.
func (e *readError) Unwrap() error { return e.err }

// diskError is a fault of our own disk, which a decoder passes on.
type diskError struct{ err error }

func (e *diskError) Error() string { return e.err.Error() }

// Unwrap returns what the disk said.
func (e *diskError) Unwrap() error { return e.err }

// diskReader marks the faults of a fetched body.
type diskReader struct{ source io.Reader }

// Read passes on what the source gives.
func (d diskReader) Read(p []byte) (int, error) {
	n, err := d.source.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &diskError{err}
	}
	return n, err
}

// bodyError says what a failed read of a body means. Only what is known to be the
// client's is told as such; anything else is ours.
func bodyError(err error) error {
	var invalid *seqlease.InvalidError
	var status *statusError
	var broken *readError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow
	case errors.Is(err, seqlease.ErrTooLarge), errors.Is(err, seqlease.ErrBusy), errors.Is(err, context.Canceled),
		errors.As(err, &invalid), errors.As(err, &status):
		return err
	case errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF): // the latter in the midst of a part
		return seqlease.InvalidParameter("body", fmt.Sprintf("the body broke off: %v", err))
	default:
		return fmt.Errorf("read body: %w", err)
	}
}

// bodyOf returns the body that [server.prepareBody] made.
func bodyOf(r *http.Request) *requestBody { return r.Body.(*requestBody) }
