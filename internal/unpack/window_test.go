package unpack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// zstdStream writes a frame whose window is not cut to the content.
func zstdStream(tb testing.TB, content []byte, window int) []byte {
	tb.Helper()
	var b bytes.Buffer
	e, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	for _, piece := range [][]byte{content[:len(content)/2], content[len(content)/2:]} {
		_, _ = e.Write(piece)
		_ = e.Flush()
	}
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstdFrame(tb testing.TB, content []byte, options ...zstd.EOption) []byte {
	tb.Helper()
	e, err := zstd.NewWriter(nil, options...)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	return e.EncodeAll(content, nil)
}

// noise is content of raw, compressed and run-length blocks.
func noise(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, n)
	for i := range content[:n/3] {
		content[i] = byte(random.Uint32())
	}
	for i := range content[n/3 : 2*n/3] {
		content[n/3+i] = "ACGT"[random.IntN(4)]
	}
	return content
}

func TestZstdGuard_TellsEveryWindow(t *testing.T) {
	t.Parallel()
	content := noise(600_000)
	file := slices.Concat(
		[]byte("\x52\x2a\x4d\x18\x03\x00\x00\x00abc"), // skippable
		zstdStream(t, content, 1<<20),
		zstdFrame(t, content[:1000], zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false)),
		zstdStream(t, content, 16<<20),
		zstdFrame(t, nil, zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<16)),
	)
	for name, source := range map[string]io.Reader{"whole": bytes.NewReader(file), "byte by byte": iotest.OneByteReader(bytes.NewReader(file))} {
		var windows []uint64
		got, err := io.ReadAll(newZstdGuard(bufio.NewReader(source), func(n uint64) error {
			windows = append(windows, n)
			return nil
		}))
		if err != nil || !bytes.Equal(got, file) {
			t.Errorf("%s: %d bytes of %d passed, %v", name, len(got), len(file), err)
		}
		if want := []uint64{1 << 20, 1000, 16 << 20, 0}; !cmp.Equal(windows, want) {
			t.Errorf("%s: windows %d, want %d", name, windows, want)
		}
	}
	for _, cut := range []int{1, 8, 11, 13, 20, len(file) / 2, len(file) - 1} {
		got, err := io.ReadAll(newZstdGuard(bufio.NewReader(bytes.NewReader(file[:cut])), func(uint64) error { return nil }))
		if err != nil || !bytes.Equal(got, file[:cut]) {
			t.Errorf("cut after %d bytes: %d passed, %v; want all, for the decoder to judge", cut, len(got), err)
		}
	}
}

// TestOpen_AsksBeforeItTakesMuchMemory has files whose decoders need more than
// usual, also in a later part only (B094).
func TestOpen_AsksBeforeItTakesMuchMemory(t *testing.T) {
	t.Parallel()
	content := noise(1000)
	xzFile := func(dictionary int) []byte {
		var b bytes.Buffer
		w, err := xz.WriterConfig{DictCap: dictionary}.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	lzmaFile := func(dictionary int) []byte {
		var b bytes.Buffer
		w, err := lzma.WriterConfig{DictCap: dictionary}.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	zstdFile := func(window int) []byte { return zstdStream(t, content, window) }
	full := errors.New("no room")
	for _, tt := range []struct {
		name string
		file []byte
		asks bool
	}{
		{"s.zst", zstdFile(8 << 20), false},
		{"s.zst", zstdFile(16 << 20), true},
		{"s.zst", append(zstdFile(1<<20), zstdFile(64<<20)...), true},
		{"s.xz", xzFile(8 << 20), false},
		{"s.xz", xzFile(64 << 20), true},
		{"s.xz", append(xzFile(1<<20), xzFile(16<<20)...), true},
		{"s.lzma", lzmaFile(8 << 20), false},
		{"s.lzma", lzmaFile(16 << 20), true},
	} {
		for _, failure := range []error{nil, full} {
			asked := false
			o := Options{Budget: NewBudget(1 << 20), Large: func(context.Context) error { asked = true; return failure }}
			r, err := Open(t.Context(), tt.name, io.NopCloser(bytes.NewReader(tt.file)), o)
			if err == nil {
				_, err = io.ReadAll(r)
				_ = r.Close()
			}
			want := failure
			if !tt.asks {
				want = nil
			}
			if asked != tt.asks || !errors.Is(err, want) {
				t.Errorf("%s: asked %v, want %v; error %v, want %v", tt.name, asked, tt.asks, err, want)
			}
		}
	}
}
