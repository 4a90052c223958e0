package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// growth is a file on disk that one goroutine writes and others read meanwhile.
type growth struct {
	disk *os.File

	mu      sync.Mutex
	size    int64         // bytes on disk
	end     error         // nil while it grows; io.EOF when whole; else what broke it
	changed chan struct{} // closed at the next change of size and end; nil: nobody waits
}

// grow tells the readers of n more bytes.
func (g *growth) grow(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size += n
	g.wake()
}

// finish says that the file won't grow any more; the first call counts.
func (g *growth) finish(end error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.endWith(end)
}

// endWith needs the lock.
func (g *growth) endWith(end error) {
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

// length is how many bytes there are.
func (g *growth) length() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.size
}

// beyond waits until the file goes beyond the offset or has ended, and returns its
// size and how it ended. Where it has to wait it calls wait, whose error ends it.
func (g *growth) beyond(offset int64, wait func(changed <-chan struct{}) error) (size int64, end error) {
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
		if err := wait(changed); err != nil {
			return size, err
		}
	}
}

// readOn reads what lies beyond the offset; it waits as beyond does. What is there
// already is served also of a broken file: its error follows.
func (g *growth) readOn(p []byte, offset int64, wait func(changed <-chan struct{}) error) (int, error) {
	size, end := g.beyond(offset, wait)
	available := size - offset
	if available <= 0 {
		return 0, end
	}
	n, err := g.disk.ReadAt(p[:min(int64(len(p)), available)], offset)
	if err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
		return n, fmt.Errorf("read spool file: %w", err)
	}
	return n, nil
}
