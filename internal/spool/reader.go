package spool

import (
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
	select {
	case <-r.done:
		return 0, r.cause()
	default:
	}
	n, err := r.file.readOn(p, r.offset, func(changed <-chan struct{}) error {
		select {
		case <-changed:
			return nil
		case <-r.done:
			return r.cause()
		}
	})
	r.offset += int64(n)
	return n, err
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
