package spool

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// rawReader reads the compressed bytes and follows the file while it grows. It
// lives as long as the request it serves, so it keeps what ends that request.
type rawReader struct {
	file   *File
	done   <-chan struct{}
	cause  func() error
	offset int64
	closed bool
}

// Read waits until there is something to read, the file has ended or the
// reader's context is done.
func (r *rawReader) Read(p []byte) (int, error) {
	if r.closed {
		return 0, os.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		select {
		case <-r.done:
			return 0, r.cause()
		default:
		}
		size, changed, end := r.file.state()
		if available := size - r.offset; available > 0 {
			// What is there already is served also of a broken file: its error follows.
			n, err := r.file.disk.ReadAt(p[:min(int64(len(p)), available)], r.offset)
			r.offset += int64(n)
			if err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
				return n, fmt.Errorf("read spool file: %w", err)
			}
			return n, nil
		}
		if end != nil {
			return 0, end
		}
		select {
		case <-changed:
		case <-r.done:
			return 0, r.cause()
		}
	}
}

// Close releases the reader's hold of the file.
func (r *rawReader) Close() error {
	if !r.closed {
		r.closed = true
		r.file.Release()
	}
	return nil
}

// plainReader decompresses.
type plainReader struct {
	decoder *zstd.Decoder
	raw     *rawReader
}

// Read decompresses; errors of the file come through as they are.
func (r *plainReader) Read(p []byte) (int, error) { return r.decoder.Read(p) }

// Close releases the reader's hold of the file.
func (r *plainReader) Close() error {
	r.decoder.Close()
	return r.raw.Close()
}

var (
	_ io.ReadCloser = (*rawReader)(nil)
	_ io.ReadCloser = (*plainReader)(nil)
)
