package spool

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrStalled says that the file which a [Follower] reads didn't grow for a while.
var ErrStalled = errors.New("spool file doesn't grow")

// growth is how far a file goes that somebody writes.
type growth struct {
	mu      sync.Mutex
	size    int64
	end     error         // nil while it grows; io.EOF when whole; else what broke it
	changed chan struct{} // closed at the next change; nil: nobody waits
}

func (g *growth) add(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size += n
	g.wake()
}

// finish says once that the file won't grow any more.
func (g *growth) finish(end error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.end == nil {
		g.end = end
		g.wake()
	}
}

// wake needs the lock.
func (g *growth) wake() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// beyond waits until the file goes beyond the offset or has ended, and returns its size
// and how it ended.
func (g *growth) beyond(offset int64, patience time.Duration) (size int64, end error) {
	for {
		g.mu.Lock()
		size, end = g.size, g.end
		if size > offset || end != nil {
			g.mu.Unlock()
			return size, end
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		timer := time.NewTimer(patience)
		select {
		case <-changed:
			timer.Stop()
		case <-timer.C:
			return size, ErrStalled
		}
	}
}

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
	s.growth.finish(err)
}

// Read waits until there is something to read.
func (f *Follower) Read(p []byte) (int, error) {
	if len(p) == 0 || f.failed != nil {
		return 0, f.failed
	}
	size, end := f.scratch.growth.beyond(f.offset, f.patience)
	available := size - f.offset
	if available <= 0 {
		return 0, f.fail(end)
	}
	n, err := f.scratch.disk.ReadAt(p[:min(int64(len(p)), available)], f.offset)
	f.offset += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, f.fail(fmt.Errorf("read spool file: %w", err))
	}
	return n, nil
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
		next, end := f.scratch.growth.beyond(size, f.patience)
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
