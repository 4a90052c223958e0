package spool

import (
	"fmt"
	"io"
	"os"
)

// Scratch is a temporary file for what is under way: request bodies as they come
// and the entries of an upload. It counts towards the limit of its [Dir]. It is
// for one writer; once that has stopped, it may be read concurrently, and before by
// a [Follower]. Close it.
type Scratch struct {
	growth
	dir     *Dir
	unnamed bool
	closed  bool
}

// CreateScratch makes an empty file. The error is [ErrFull] where no space is left.
func (d *Dir) CreateScratch() (*Scratch, error) {
	if d.used.Load() >= d.limit {
		return nil, d.full()
	}
	disk, unnamed, err := createUnnamed(d.path, "seqlease-upload-*")
	if err != nil {
		return nil, fmt.Errorf("create spool file: %w", diskFault(err))
	}
	return &Scratch{growth: growth{disk: disk}, dir: d, unnamed: unnamed}, nil
}

// Write appends to the file. The error is [ErrFull] where no space is left.
func (s *Scratch) Write(p []byte) (int, error) {
	n, err := s.dir.write(s.disk, p)
	s.grow(int64(n))
	return n, err
}

// ReadAt reads what was written, from any place, also while the file grows.
func (s *Scratch) ReadAt(p []byte, offset int64) (int, error) { return s.disk.ReadAt(p, offset) }

// Size returns how many bytes were written.
func (s *Scratch) Size() int64 { return s.length() }

// Open returns a reader of the whole file, which can be read from any place. It
// must not be used after Close.
func (s *Scratch) Open() *io.SectionReader { return io.NewSectionReader(s.disk, 0, s.length()) }

// Close removes the file and gives its space back. Further calls do nothing.
func (s *Scratch) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.dir.used.Add(-s.length())
	return remove(s.disk, s.unnamed)
}

// createUnnamed makes a temporary file as [os.CreateTemp] does. Where the system
// allows it the file loses its name at once, so that even a killed process
// leaves nothing behind; unnamed tells whether it has.
func createUnnamed(dir, pattern string) (disk *os.File, unnamed bool, err error) {
	disk, err = os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, false, err
	}
	return disk, os.Remove(disk.Name()) == nil, nil
}

// remove closes a file that [createUnnamed] made and removes its name if it
// still has one.
func remove(disk *os.File, unnamed bool) error {
	err := disk.Close()
	if !unnamed {
		err = os.Remove(disk.Name())
	}
	return err
}
