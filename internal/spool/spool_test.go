package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func create(t *testing.T, d *Dir) *File {
	t.Helper()
	f, err := d.Create()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lines are hard to compress, so that many blocks reach the disk.
func lines(n int) []byte {
	var b bytes.Buffer
	x := uint64(88172645463325252)
	for i := range n {
		fmt.Fprintf(&b, "%d", i)
		for range 100 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			fmt.Fprintf(&b, " %x", x)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func TestFile_ReadersFollowTheWriter(t *testing.T) {
	t.Parallel()
	dir := NewDir(t.TempDir(), 0)
	f := create(t, dir)
	want := lines(600)
	var readers errgroup.Group
	for i := range 8 {
		readers.Go(func() error {
			var r io.ReadCloser
			var err error
			if i%2 == 0 {
				r, err = f.Open(t.Context())
			} else {
				raw := f.OpenCompressed(t.Context())
				defer func() { _ = raw.Close() }()
				var decoder *zstd.Decoder
				decoder, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
				r = decoder.IOReadCloser()
			}
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			got, err := io.ReadAll(r)
			if err == nil && !bytes.Equal(got, want) {
				err = fmt.Errorf("reader %d: got %d bytes that differ from the %d written", i, len(got), len(want))
			}
			return err
		})
	}
	for part := range bytes.Lines(want) {
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Finish(nil); err != nil {
		t.Fatal(err)
	}
	if err := readers.Wait(); err != nil {
		t.Error(err)
	}
	if dir.Used() == 0 {
		t.Error("a held file takes no space, want its size")
	}
	f.Release()
	if got := dir.Used(); got != 0 {
		t.Errorf("%d bytes used after the last release, want 0", got)
	}
}

func TestFile_L12_FirstBytesComeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	f := create(t, NewDir(t.TempDir(), 0))
	defer f.Release()
	r, err := f.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	content := lines(1000)
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 1000)
	if _, err := io.ReadFull(r, got); err != nil { // the writer hasn't finished
		t.Fatal(err)
	}
	if !bytes.Equal(got, content[:1000]) {
		t.Error("the first bytes differ from what was written")
	}
	if err := f.Finish(nil); err != nil {
		t.Fatal(err)
	}
}

func TestFile_L15_WriterFailureReachesEveryReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database went away")
	for _, written := range []int{0, 10, 1 << 20} {
		t.Run(fmt.Sprintf("after %d bytes", written), func(t *testing.T) {
			t.Parallel()
			f := create(t, NewDir(t.TempDir(), 0))
			plain, err := f.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			raw := f.OpenCompressed(t.Context())
			if _, err := f.Write(lines(1000)[:written]); err != nil {
				t.Fatal(err)
			}
			if err := f.Finish(broken); !errors.Is(err, broken) {
				t.Errorf("Finish: got %v, want %v", err, broken)
			}
			late, err := f.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, r := range map[string]io.ReadCloser{"plain": plain, "compressed": raw, "opened late": late} {
				if _, err := io.ReadAll(r); !errors.Is(err, broken) {
					t.Errorf("%s reader: got %v, want %v", name, err, broken)
				}
				if err := r.Close(); err != nil {
					t.Errorf("%s reader: close: %v", name, err)
				}
			}
			f.Release()
		})
	}
}

func TestFile_GivenUpInMidWritingIsAnError(t *testing.T) {
	t.Parallel()
	f := create(t, NewDir(t.TempDir(), 0))
	r := f.OpenCompressed(t.Context())
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("Finish: got %v, want %v", err, context.Canceled)
	}
	f.Release()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	_ = r.Close()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after close: got %v, want %v", err, os.ErrClosed)
	}
}

func TestFile_ReaderRespectsItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := create(t, NewDir(t.TempDir(), 0))
		defer f.Release()
		ctx, cancel := context.WithCancel(t.Context())
		r, err := f.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		ended := make(chan error, 1)
		go func() {
			_, err := io.ReadAll(r)
			ended <- err
		}()
		synctest.Wait() // the reader waits for a writer that never writes
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if err := f.Finish(nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFile_EmptyIsOneEmptyFrame(t *testing.T) {
	t.Parallel()
	f := create(t, NewDir(t.TempDir(), 0))
	defer f.Release()
	if err := f.Finish(nil); err != nil {
		t.Fatal(err)
	}
	raw := f.OpenCompressed(t.Context())
	defer func() { _ = raw.Close() }()
	frame, err := io.ReadAll(raw)
	if err != nil {
		t.Fatal(err)
	}
	if len(frame) == 0 {
		t.Fatal("no bytes, want a frame")
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	if got, err := decoder.DecodeAll(frame, nil); err != nil || len(got) != 0 {
		t.Errorf("got %d bytes and %v, want none and no error", len(got), err)
	}
}

func TestDir_LimitCountsAllFilesTogether(t *testing.T) {
	t.Parallel()
	dir := NewDir(t.TempDir(), 1<<20)
	first, second := create(t, dir), create(t, dir)
	content := lines(400) // about 0.35 MB compressed
	if _, err := first.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := first.Finish(nil); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 10 {
		if _, err = second.Write(content[:len(content)-len(content)/7]); err != nil {
			break
		}
	}
	if err == nil {
		err = second.Finish(nil)
	} else {
		err = second.Finish(err)
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want %v", err, ErrFull)
	}
	if !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("got %v, want it to be %v", err, seqlease.ErrBusy)
	}
	r := second.OpenCompressed(t.Context())
	if _, err := io.ReadAll(r); !errors.Is(err, ErrFull) {
		t.Errorf("reader: got %v, want %v", err, ErrFull)
	}
	_ = r.Close()
	first.Release()
	second.Release()
	if got := dir.Used(); got != 0 {
		t.Errorf("%d bytes used after the release, want 0", got)
	}
}

func TestDir_NoSpaceLeftIsToldBeforeTheWriting(t *testing.T) {
	t.Parallel()
	dir := NewDir(t.TempDir(), 1)
	f := create(t, dir)
	dir.used.Add(1) // another file's
	if _, err := dir.Create(); !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want %v", err, ErrFull)
	}
	if err := f.Finish(nil); !errors.Is(err, ErrFull) {
		t.Errorf("Finish: got %v, want %v", err, ErrFull)
	}
	f.Release()
}

func TestDir_LeavesNoFileBehind(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	f := create(t, NewDir(path, 0))
	if _, err := f.Write(lines(10)); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(nil); err != nil {
		t.Fatal(err)
	}
	f.Release()
	left, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDir_MissingDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := NewDir(t.TempDir()+"/none", 0).Create(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}
