package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is the longest line of the protocol, in bytes.
const DefaultLimit = 32 << 20

// bufferSize is what a reader starts with and goes back to after long lines.
const bufferSize = 64 << 10

// maxEmptyReads is how many reads in a row may return nothing and no error.
const maxEmptyReads = 100

// LineTooLongError says that a line is over the limit. Reading can't go on.
type LineTooLongError struct {
	Line  int // 1-based
	Limit int // bytes
}

// Error names the line and the limit.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line %d is longer than %d bytes", e.Line, e.Limit)
}

// Reader reads lines that end in LF, CR or CRLF; the last may end in nothing.
// It is for one goroutine.
type Reader struct {
	// OnResize, if set, is called before the buffer gets another size (in bytes,
	// from 128 KiB on in powers of two while it grows). An error ends reading and
	// is returned. It lets a server bound the memory of many readers.
	OnResize func(size int) error

	source     io.Reader
	limit      int
	buffer     []byte
	start, end int // unread bytes
	scanned    int // unread bytes known to hold no line end
	line       int
	skipLF     bool // the last line ended in CR
	err        error
}

// NewReader returns a reader of lines of at most limit bytes, their ends not
// counted.
func NewReader(source io.Reader, limit int) *Reader {
	return &Reader{source: source, limit: limit, buffer: make([]byte, min(bufferSize, limit+2))}
}

// Line returns the 1-based number of the line that Next returned last. Blank
// lines count.
func (r *Reader) Line() int { return r.line }

// Next returns the next line that has anything but blanks, without its end. It
// is valid until the next call. After the last line the error is [io.EOF]; a
// line over the limit is a [*LineTooLongError]; a failing source returns its
// error, and the unfinished line before it is never taken for a line.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.next()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimLeft(line, " \t")) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) next() ([]byte, error) {
	for {
		if r.skipLF && r.start < r.end {
			if r.buffer[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		if line, found := r.cut(); found {
			return r.within(line)
		}
		if r.end-r.start > r.limit {
			r.line++
			return nil, &LineTooLongError{Line: r.line, Limit: r.limit}
		}
		if r.err != nil {
			return r.last()
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// cut takes a line off the unread bytes if there is a whole one.
func (r *Reader) cut() ([]byte, bool) {
	unread := r.buffer[r.start:r.end]
	length := bytes.IndexByte(unread[r.scanned:], '\n')
	search := unread[r.scanned:]
	if length >= 0 {
		search = search[:length]
	}
	if cr := bytes.IndexByte(search, '\r'); cr >= 0 {
		length = cr
		r.skipLF = true
	}
	if length < 0 {
		r.scanned = len(unread)
		return nil, false
	}
	line := unread[:r.scanned+length]
	r.start += len(line) + 1
	r.scanned = 0
	return line, true
}

func (r *Reader) within(line []byte) ([]byte, error) {
	r.line++
	if len(line) > r.limit {
		return nil, &LineTooLongError{Line: r.line, Limit: r.limit}
	}
	return line, nil
}

// last returns what follows the last line end, or why reading ended.
func (r *Reader) last() ([]byte, error) {
	if !errors.Is(r.err, io.EOF) || r.start == r.end {
		return nil, r.err
	}
	line := r.buffer[r.start:r.end]
	r.start, r.scanned = r.end, 0
	return r.within(line)
}

// fill reads more, after making room.
func (r *Reader) fill() error {
	if err := r.makeRoom(); err != nil {
		return err
	}
	for range maxEmptyReads {
		n, err := r.source.Read(r.buffer[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return nil //nolint:nilerr // it is returned after the bytes that came with it
		}
	}
	r.err = io.ErrNoProgress
	return nil
}

// makeRoom moves the unread bytes to the front of a buffer in which there is
// room: a larger one if they fill it, the first size again once they fit.
func (r *Reader) makeRoom() error {
	unread := r.end - r.start
	size := len(r.buffer)
	switch first := min(bufferSize, r.limit+2); {
	case unread == len(r.buffer):
		size = min(2*size, r.limit+2)
	case size > first && unread <= first/2:
		size = first
	}
	target := r.buffer
	if size != len(r.buffer) {
		if r.OnResize != nil {
			if err := r.OnResize(size); err != nil {
				return err
			}
		}
		target = make([]byte, size)
	}
	copy(target, r.buffer[r.start:r.end])
	r.buffer, r.start, r.end = target, 0, unread
	return nil
}
