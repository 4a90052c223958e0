package spool

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrStalled says that the file which a [Follower] reads didn't grow for a while.
var ErrStalled = errors.New("spool file doesn't grow")

// Follower reads a [Scratch] from its beginning while it is written, up to where
// [Scratch.Finish] is called. A Follower is for one goroutine and must not be used
// after the file was closed.
type Follower struct {
	scratch  *Scratch
	patience time.Duration
	offset   int64
	// failed is the first error but [io.EOF]. Whoever reads by way of a buffer may look
	// at what is there without looking at the error, and must find it again.
	failed error
}

// Follow returns a reader. Its error is [ErrStalled] where nothing is written for as
// long as patience, also when something is written later.
func (s *Scratch) Follow(patience time.Duration) *Follower {
	return &Follower{scratch: s, patience: patience}
}

// Finish tells followers that the file is whole, or what broke it. Further calls do
// nothing.
func (s *Scratch) Finish(err error) {
	if err == nil {
		err = io.EOF
	}
	s.finish(err)
}

// Read waits until there is something to read.
func (f *Follower) Read(p []byte) (int, error) {
	if len(p) == 0 || f.failed != nil {
		return 0, f.failed
	}
	n, err := f.scratch.readOn(p, f.offset, f.wait)
	f.offset += int64(n)
	if err != nil {
		return n, f.fail(err)
	}
	return n, nil
}

// wait is for a change, as long as the follower's patience lasts.
func (f *Follower) wait(changed <-chan struct{}) error {
	timer := time.NewTimer(f.patience)
	defer timer.Stop()
	select {
	case <-changed:
		return nil
	case <-timer.C:
		return ErrStalled
	}
}

// fail keeps an error and returns it.
func (f *Follower) fail(err error) error {
	if !errors.Is(err, io.EOF) {
		f.failed = err
	}
	return err
}

// ReadAt reads what was written, from any place.
func (f *Follower) ReadAt(p []byte, offset int64) (int, error) {
	return f.scratch.disk.ReadAt(p, offset)
}

// Seek only finds out how large the file is, by (0, [io.SeekEnd]), when it is whole.
func (f *Follower) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekEnd {
		return 0, fmt.Errorf("spool: a file that grows has no place %d from %d: %w", offset, whence, errors.ErrUnsupported)
	}
	for size := int64(0); f.failed == nil; {
		next, end := f.scratch.beyond(size, f.wait)
		if size = next; errors.Is(end, io.EOF) {
			return size, nil
		} else if end != nil {
			return 0, f.fail(end)
		}
	}
	return 0, f.failed
}

// Close does nothing: the file isn't the reader's.
func (f *Follower) Close() error { return nil }

var (
	_ io.ReadSeekCloser = (*Follower)(nil)
	_ io.ReaderAt       = (*Follower)(nil)
)
