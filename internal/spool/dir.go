package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/seqlease/seqlease"
)

// DefaultLimit is how many bytes the files of a [Dir] may take together.
const DefaultLimit = 20 << 30

// ErrFull says that the files of the directory have reached its limit: others
// have to finish first, so it is [seqlease.ErrBusy] as well.
var ErrFull = fmt.Errorf("spool space is used up: %w", seqlease.ErrBusy)

// window is how far back the compression looks: a few entries of 30 kb genomes. It
// is also most of what each reader costs in memory.
const window = 256 << 10

// Dir makes spool files in one directory. It may be used concurrently.
type Dir struct {
	path    string
	limit   int64
	used    atomic.Int64
	answers atomic.Int64 // part of used: what files of [Dir.Create] take
}

// NewDir returns a Dir in the directory at path ("": the system's directory for
// temporary files) whose files take at most limit bytes on disk together
// (0: [DefaultLimit]). A quarter of it is kept for uploads: however many answers
// slow clients hold, uploads find room.
func NewDir(path string, limit int64) *Dir {
	if limit == 0 {
		limit = DefaultLimit
	}
	return &Dir{path: path, limit: limit}
}

// Path returns the directory as given to [NewDir].
func (d *Dir) Path() string { return d.path }

// Used returns how many bytes the files take.
func (d *Dir) Used() int64 { return d.used.Load() }

// Create makes an empty file. The caller is its writer and holds it: it must
// call [File.Finish] in the end and [File.Release] when it needs no more readers.
// The error is [ErrFull] where no space is left.
func (d *Dir) Create() (*File, error) {
	if d.used.Load() >= d.limit || d.answers.Load() >= d.answerLimit() {
		return nil, d.full()
	}
	disk, unnamed, err := createUnnamed(d.path, "seqlease-spool-*.zst")
	if err != nil {
		return nil, fmt.Errorf("create spool file: %w", diskFault(err))
	}
	f := &File{growth: growth{disk: disk}, dir: d, unnamed: unnamed, holds: 1}
	f.encoder, err = zstd.NewWriter(diskWriter{f}, zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithWindowSize(window))
	if err != nil {
		f.Release()
		return nil, fmt.Errorf("create spool file: %w", err)
	}
	return f, nil
}

// answerLimit is how many bytes the files of [Dir.Create] may take together.
func (d *Dir) answerLimit() int64 { return d.limit - d.limit/4 }

func (d *Dir) full() error { return fmt.Errorf("%w: the limit is %d bytes", ErrFull, d.limit) }

// write appends to one of the files and counts what it takes.
func (d *Dir) write(disk *os.File, p []byte) (int, error) {
	size := int64(len(p))
	if d.used.Add(size) > d.limit {
		d.used.Add(-size)
		return 0, d.full()
	}
	n, err := disk.Write(p)
	d.used.Add(int64(n) - size)
	if err != nil {
		return n, fmt.Errorf("write spool file: %w", diskFault(err))
	}
	return n, nil
}

// diskFault says of a full disk what it is: others that finish don't help.
func diskFault(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %w", seqlease.Explain(seqlease.ErrStorageFull, "the disk for temporary files is full"), err)
	}
	return err
}

// diskWriter is where the encoder of a file writes to.
type diskWriter struct{ file *File }

var _ io.Writer = diskWriter{}

// Write appends compressed bytes and wakes the readers.
func (w diskWriter) Write(p []byte) (int, error) {
	d, size := w.file.dir, int64(len(p))
	if d.answers.Add(size) > d.answerLimit() {
		d.answers.Add(-size)
		return 0, d.full()
	}
	n, err := d.write(w.file.disk, p)
	d.answers.Add(int64(n) - size)
	w.file.grow(int64(n))
	return n, err
}
