package unpack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"
)

const messy = "../../testdata/messy"

// unpacked reads content as a stream of that name to its end. The temporary
// directory is empty again afterwards.
func unpacked(tb testing.TB, name string, content []byte, budget int64) ([]byte, error) {
	tb.Helper()
	return readAll(tb, name, io.NopCloser(bytes.NewReader(content)), budget)
}

// namedScratch is a temporary file that still has its name.
type namedScratch struct{ *os.File }

func (s namedScratch) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

func scratchIn(dir string) func() (Scratch, error) {
	return func() (Scratch, error) {
		f, err := os.CreateTemp(dir, "zip-*")
		return namedScratch{f}, err
	}
}

func readAll(tb testing.TB, name string, raw io.ReadCloser, budget int64) (plain []byte, err error) {
	tb.Helper()
	dir := tb.TempDir()
	r, err := Open(tb.Context(), name, raw, Options{Scratch: scratchIn(dir), Budget: NewBudget(budget)})
	if err == nil {
		plain, err = io.ReadAll(r)
		err = errors.Join(err, r.Close())
	}
	if left, lsErr := os.ReadDir(dir); lsErr != nil || len(left) > 0 {
		tb.Errorf("temporary directory still has %v (%v)", left, lsErr)
	}
	return plain, err
}

// wantRefused checks for a RefusedError that says the words.
func wantRefused(tb testing.TB, err error, words string) {
	tb.Helper()
	var refused RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, words) {
		tb.Errorf("got %v (%T), want a RefusedError with %q", err, err, words)
	}
}

// TestFilesOfOtherTools: files that gzip, bgzip, zstd, xz, bzip2 and zip wrote,
// read in place and as streams.
func TestFilesOfOtherTools(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(filepath.Join(messy, "00-clean/sequences.fasta"))
	if err != nil {
		t.Fatal(err)
	}
	for file, format := range map[string]Format{
		"46-gz/sequences.fasta.gz": Gzip, "47-gz-multi-member/sequences.fasta.gz": Gzip, "48-zst/sequences.fasta.zst": Zstandard,
		"49-zst-multi-frame/sequences.fasta.zst": Zstandard, "51-xz/sequences.fasta.xz": XZ, "52-bz2/sequences.fasta.bz2": Bzip2,
		"53-zip/sequences.fasta.zip": Zip, "55-gz-without-suffix/sequences.fasta": Gzip, "56-wrong-suffix/sequences.fasta.gz": Plain,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join(messy, file))
			if err != nil {
				t.Fatal(err)
			}
			if got := FormatOf(content[:min(len(content), HeadBytes)], file); got != format {
				t.Errorf("format %s, want %s", got, format)
			}
			got, err := unpacked(t, file, content, int64(len(want)))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("as a stream: %d bytes, %v; want %d", len(got), err, len(want))
			}
			f, err := os.Open(filepath.Join(messy, file))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = readAll(t, file, f, int64(len(want))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("in place: %d bytes, %v; want %d", len(got), err, len(want))
			}
		})
	}
}

func TestBudgetIsSharedAndExact(t *testing.T) {
	t.Parallel()
	budget := NewBudget(10)
	read := func(content string) error {
		r, err := Open(t.Context(), "a", io.NopCloser(strings.NewReader(content)), Options{Budget: budget})
		if err != nil {
			return err
		}
		_, err = io.ReadAll(r)
		return errors.Join(err, r.Close())
	}
	for i, c := range []struct {
		content string
		want    error
	}{{"123456", nil}, {"7890", nil}, {"", nil}, {"1", ErrBudget}} {
		if err := read(c.content); !errors.Is(err, c.want) {
			t.Errorf("file %d: got %v, want %v", i+1, err, c.want)
		}
	}
}

func TestFailuresAroundTheFileAreNoRefusals(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	for _, head := range []string{"", "text", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "PK\x03\x04xxxx"} {
		raw := io.NopCloser(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))
		var refused RefusedError
		if _, err := readAll(t, "a", raw, 100); !errors.Is(err, broken) || errors.As(err, &refused) {
			t.Errorf("%q: got %v, want %v", head, err, broken)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	raw := io.NopCloser(strings.NewReader("PK\x03\x04xxxx"))
	_, err := Open(t.Context(), "a", raw, Options{Scratch: scratchIn(missing), Budget: NewBudget(100)})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the directory: got %v", err)
	}
	raw = io.NopCloser(strings.NewReader("PK\x03\x04xxxx"))
	if _, err := Open(t.Context(), "a", raw, Options{Budget: NewBudget(100)}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without a temporary file: got %v", err)
	}
}

// seeking is a file whose end may not be found.
type seeking struct {
	*bytes.Reader
	err error
}

func (s seeking) Seek(int64, int) (int64, error) { return 0, s.err }
func (seeking) Close() error                     { return nil }

// An archive is copied where its end can't be looked for, and not where that failed.
func TestArchiveWhoseEndIsNotFound(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(messy, "53-zip/sequences.fasta.zip"))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk on fire")
	for _, failure := range []error{errors.ErrUnsupported, broken} {
		copies := 0
		scratch := func() (Scratch, error) { copies++; return scratchIn(t.TempDir())() }
		r, err := Open(t.Context(), "a.zip", seeking{bytes.NewReader(content), failure}, Options{Scratch: scratch, Budget: NewBudget(1 << 20)})
		if err == nil {
			_, err = io.ReadAll(r)
			err = errors.Join(err, r.Close())
		}
		var refused RefusedError
		if copied := !errors.Is(failure, broken); copied != (err == nil) || copied != (copies == 1) || errors.As(err, &refused) {
			t.Errorf("%v: got %v after %d copies", failure, err, copies)
		}
	}
}

// pausing gives a part of a file, fails once, and then gives the rest.
type pausing struct {
	parts [][]byte
	err   error
}

func (p *pausing) Read(into []byte) (int, error) {
	if len(p.parts[0]) == 0 && len(p.parts) > 1 {
		p.parts = p.parts[1:]
		return 0, p.err
	}
	if len(p.parts[0]) == 0 {
		return 0, io.EOF
	}
	n := copy(into, p.parts[0])
	p.parts[0] = p.parts[0][n:]
	return n, nil
}

// A guard that looks ahead doesn't see the error of what it looks at. Nothing that
// comes after it may get past the guard, wherever the file pauses.
func TestFailuresAreForGood(t *testing.T) {
	t.Parallel()
	stalled := errors.New("stalled")
	large := zstdStream(t, noise(4096), 2*MaxWindow)
	for name, content := range map[string][]byte{
		"a": noise(4096), "a.zst": large, "b.zst": append(zstdFrame(t, noise(1000)), large...),
		"a.xz": asXZ(t, noise(4096), xz.WriterConfig{}),
	} {
		for at := range 100 {
			at *= len(content) / 100
			raw := &pausing{parts: [][]byte{content[:at:at], content[at:]}, err: stalled}
			plain, err := readAll(t, name, io.NopCloser(raw), 1<<20)
			var refused RefusedError
			seen := errors.As(err, &refused) && len(plain) < 4096 // before the file paused
			if !errors.Is(err, stalled) && !seen {
				t.Errorf("%s pauses at %d of %d bytes: read %d and error %v", name, at, len(content), len(plain), err)
			}
		}
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f, err := os.Open(filepath.Join(messy, "53-zip/sequences.fasta.zip"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(ctx, "a", f, Options{Budget: NewBudget(1 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzOpen: bytes that anybody may send come out bounded, are refused with
// words, or are over the budget; nothing else, and nothing is left behind.
func FuzzOpen(f *testing.F) {
	for _, pattern := range []string{"*.gz", "*.zst", "*.xz", "*.bz2", "*.zip"} {
		files, err := filepath.Glob(filepath.Join(messy, "*", pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("no files %s (%v)", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	f.Add(asXZ(f, []byte("ACGT"), xz.WriterConfig{BlockSize: 2}))
	f.Fuzz(func(t *testing.T, content []byte) {
		const budget = 1 << 20
		plain, err := unpacked(t, "a.lzma", content, budget)
		var refused RefusedError
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, ErrBudget) || len(plain) > budget {
			t.Errorf("%d bytes, %v", len(plain), err)
		}
	})
}
