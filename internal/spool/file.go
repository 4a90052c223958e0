package spool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// File is one spool file. One goroutine writes; readers may be opened and used
// by any others meanwhile. It goes away when it is finished and every hold,
// the creator's and each reader's, is released.
type File struct {
	growth  // of the compressed bytes
	dir     *Dir
	encoder *zstd.Encoder
	unnamed bool
	holds   int // creator and readers; under the lock of growth
}

// errUnfinished is what readers see of a file that was released in mid-writing.
var errUnfinished = errors.New("spool file was given up before it was whole")

// Write appends to the file. Small pieces are gathered: readers see them when a
// block of the compressed frame is full, at the latest after [File.Finish].
func (f *File) Write(p []byte) (int, error) {
	n, err := f.encoder.Write(p)
	if err != nil {
		return n, fmt.Errorf("spool: %w", err)
	}
	return n, nil
}

// Finish ends the writing; call it exactly once. With a nil error the file is
// whole, and readers come to its end; otherwise they get the error. The error
// returned is the one that readers see, nil if the file is whole.
func (f *File) Finish(err error) error {
	if err != nil {
		f.encoder.Reset(nil) // lets go of its buffers without writing
	} else {
		err = f.encoder.Close()
	}
	f.encoder = nil
	if err != nil {
		err = fmt.Errorf("spool: %w", err)
		f.finish(err)
		return err
	}
	f.finish(io.EOF)
	return nil
}

// Release gives up one hold: the creator's. Readers release theirs by Close.
func (f *File) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds--
	if f.holds > 0 {
		return
	}
	f.endWith(errUnfinished)
	_ = remove(f.disk, f.unnamed) // nobody is left who could read it
	f.dir.used.Add(-f.size)
	f.dir.answers.Add(-f.size)
}

// Open returns a reader of what was written, from its beginning. It waits for
// the writer where it has to and ends with io.EOF, the writer's error or that of
// ctx. Open only while you know that somebody holds the file. The reader is for
// one goroutine and must be closed.
func (f *File) Open(ctx context.Context) (io.ReadCloser, error) {
	raw := f.open(ctx)
	decoder, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("read spool file: %w", err)
	}
	return &plainReader{decoder: decoder, raw: raw}, nil
}

// OpenCompressed is [File.Open] for the file as it is: one zstd frame.
func (f *File) OpenCompressed(ctx context.Context) io.ReadCloser { return f.open(ctx) }

func (f *File) open(ctx context.Context) *rawReader {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds++
	return &rawReader{file: f, done: ctx.Done(), cause: func() error { return context.Cause(ctx) }}
}
