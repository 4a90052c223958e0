package intake

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/seqlease/seqlease/internal/spool"
)

// packed writes content with a compressing writer.
func packed[W io.WriteCloser](tb testing.TB, content []byte, open func(io.Writer) (W, error)) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func asGzip(tb testing.TB, content []byte) []byte {
	tb.Helper()
	return packed(tb, content, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil })
}

func asZstd(tb testing.TB, content []byte) []byte {
	tb.Helper()
	return packed(tb, content, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w) })
}

func asXZ(tb testing.TB, content []byte, config xz.WriterConfig) []byte {
	tb.Helper()
	return packed(tb, content, config.NewWriter)
}

func asLZMA(tb testing.TB, content []byte) []byte {
	tb.Helper()
	return packed(tb, content, lzma.NewWriter)
}

type zipMember struct {
	name, content string
	method, flags uint16
}

func asZip(tb testing.TB, members ...zipMember) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		f, err := z.CreateRaw(&zip.FileHeader{
			Name: m.name, Method: m.method, Flags: m.flags, CRC32: crc32.ChecksumIEEE([]byte(m.content)),
			CompressedSize64: uint64(len(m.content)), UncompressedSize64: uint64(len(m.content)),
		})
		if err == nil {
			_, err = io.WriteString(f, m.content)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// sequencesAs checks an upload whose sequence file has these bytes.
func sequencesAs(t *testing.T, name string, content []byte, limits Limits) (*Checked, error) {
	t.Helper()
	return check(t, Request{Organism: zika(t), Metadata: written("m.tsv", twoRows), Sequences: inMemory(name, content), Limits: limits})
}

func TestContainersAreReadWhole(t *testing.T) {
	t.Parallel()
	first, second := []byte(">a\nACGT\n>b\nT"), []byte("T\n")
	whole := append(bytes.Clone(first), second...)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	cases := []struct {
		name    string
		content []byte
	}{
		{"s.fasta", whole},
		{"s.fasta.gz", asGzip(t, whole)},
		{"s.fasta.gz", join(asGzip(t, first), asGzip(t, second), asGzip(t, nil))},
		{"s.fasta.zst", join(asZstd(t, first), []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), asZstd(t, second))},
		{"s.fasta.zst", join([]byte("\x5f\x2a\x4d\x18\x00\x00\x00\x00"), asZstd(t, whole))},
		{"s.fasta.xz", join(asXZ(t, first, xz.WriterConfig{}), make([]byte, 8), asXZ(t, second, xz.WriterConfig{}))},
		{"s.fasta.xz", asXZ(t, whole, xz.WriterConfig{BlockSize: 5, CheckSum: xz.SHA256})},
		{"s.fasta.xz", asXZ(t, whole, xz.WriterConfig{NoCheckSum: true})},
		{"s.fasta.lzma", asXZ(t, whole, xz.WriterConfig{})},
		{"s.fasta.lzma", asLZMA(t, whole)},
		{"s.fasta.zip", asZip(t, zipMember{name: "../../etc/passwd", content: string(whole)})},
		{"s.fasta.zip", asZip(t, zipMember{name: "folder/"}, zipMember{name: "folder/s", content: string(whole)}, zipMember{name: "__MACOSX/._s", content: "x"})},
		{"s.fasta.bz2", asGzip(t, whole)}, // the content decides
		{"s.fasta", asXZ(t, whole, xz.WriterConfig{})},
		{"s.fasta.lzma", whole},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checked, err := sequencesAs(t, c.name, c.content, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := entries(t, checked)
			if a, b := got[0].Data.UnalignedNucleotideSequences["a"], got[1].Data.UnalignedNucleotideSequences["b"]; a != "ACGT" || b != "TT" {
				t.Errorf("a is %q, b is %q", a, b)
			}
		})
	}
}

func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	whole := []byte(">a\nACGT\n>b\nTT\n")
	tar := append(make([]byte, 257), "ustar\x0000"...)
	copy(tar, "sequences.fasta")
	random := make([]byte, 4096)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	cases := []struct {
		name    string
		content []byte
		want    string
	}{
		{"s.fasta.gz", asGzip(t, nil), "the file is empty"},
		{"s.fasta.gz", append(asGzip(t, whole), "garbage"...), "gzip data is damaged"},
		{"s.fasta.gz", append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), random...), "gzip data is damaged"},
		{"s.fasta.zst", append([]byte("\x28\xb5\x2f\xfd"), random...), "zstd data"},
		{"s.fasta.lzma", append(asLZMA(t, whole), 'x'), "data after the end"},
		{"s.fasta.lzma", append([]byte("\x5d\xff\xff\xff\xff"), make([]byte, 99)...), "the lzma data asks for a dictionary (4096 MiB) that takes more than 64 MiB"},
		{"s.fasta.zip", asZip(t, zipMember{name: "a", content: string(whole)}, zipMember{name: "b", content: "x"}), `must hold one file, but it has 2 ("a", "b")`},
		{"s.fasta.zip", asZip(t), "holds no file; it must hold one"},
		{"s.fasta.zip", asZip(t, zipMember{name: "s.fasta", content: "secret", flags: 1}), `"s.fasta" in the zip archive is encrypted`},
		{"s.fasta.zip", asZip(t, zipMember{name: "s.fasta", content: "x", method: 9}), "compressed by method 9"},
		{"s.fasta.zip", []byte("PK\x03\x04garbage"), "zip data is damaged"},
		{"s.fasta", asZip(t, zipMember{name: "[Content_Types].xml", content: "x"}, zipMember{name: "xl/workbook.xml", content: "x"}), "Excel"},
		{"s.fasta", asZip(t, zipMember{name: "word/document.xml", content: "x"}), "office document"},
		{"s.fasta", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "Excel"},
		{"s.fasta", []byte("%PDF-1.7\n"), "PDF"},
		{"s.fasta", []byte(`{\rtf1 >a`), "rich-text"},
		{"s.fasta.gz", asGzip(t, tar), "tar archive"},
		{"s.fasta.gz", asGzip(t, asZstd(t, whole)), "compressed twice: inside is zstd"},
		{"s.fasta", []byte("\xff\xfe>\x00a\x00"), "UTF-16"},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			_, err := sequencesAs(t, c.name, c.content, Limits{})
			wantRefusal(t, err, "sequence file", c.want)
		})
	}
}

// TestCutContainersAreRefused cuts each compressed file at every length.
func TestCutContainersAreRefused(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	content.WriteString(">a\nACGT\n>b\n")
	for i := range 200 {
		content.WriteString("ACGT"[i*7%4:][:1] + "TTGACNRA"[i*i%8:][:1])
	}
	whole := []byte(content.String())
	bzipped, err := os.ReadFile(filepath.Join(testdata, "messy/52-bz2/sequences.fasta.bz2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, compressed := range map[string][]byte{
		"s.fasta.gz": asGzip(t, whole), "s.fasta.zst": asZstd(t, whole), "s.fasta.xz": asXZ(t, whole, xz.WriterConfig{BlockSize: 50}),
		"s.fasta.lzma": asLZMA(t, whole), "s.fasta.bz2": bzipped, "s.fasta.zip": asZip(t, zipMember{name: "s", content: string(whole)}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; n < len(compressed); n += 1 + len(compressed)/150 {
				_, err := sequencesAs(t, name, compressed[:n], Limits{})
				wantRefusal(t, err, "sequence file")
				// In fewer bytes the format may not be recognised yet.
				if n >= 20 && !strings.Contains(err.Error(), "damaged or cut off") {
					t.Errorf("cut to %d of %d bytes: %v", n, len(compressed), err)
				}
			}
		})
	}
}

func TestUploadBytesAreSharedByBothFiles(t *testing.T) {
	t.Parallel()
	sequences := ">a\nAC\n>b\nTT\n"
	enough := int64(len(twoRows) + len(sequences))
	if _, err := sequencesAs(t, "s.fasta.gz", asGzip(t, []byte(sequences)), Limits{UploadBytes: enough}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	_, err := sequencesAs(t, "s.fasta.gz", asGzip(t, []byte(sequences)), Limits{UploadBytes: enough - 1})
	wantRefusal(t, err, "too large: sequence file: ", "24 bytes together after decompression")
}

// Not parallel: it measures what the whole process allocates.
func TestBombsTakeLittleMemory(t *testing.T) {
	zeros := bytes.Repeat([]byte{'A'}, 64<<20)
	bomb := append([]byte(">a\n"), zeros...)
	cases := []struct {
		name    string
		content []byte
	}{
		{"s.fasta.gz", asGzip(t, bomb)},
		{"s.fasta.zst", asZstd(t, bomb)},
		{"s.fasta.bz2", asZstd(t, bomb)},
	}
	for _, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := sequencesAs(t, c.name, c.content, Limits{})
		runtime.ReadMemStats(&after)
		wantRefusal(t, err, "sequence file", "the limit")
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 80 {
			t.Errorf("%s of %d bytes: %d MiB allocated, want at most 80", c.name, len(c.content), got)
		}
	}
}

// An archive that comes as a stream is copied, which counts as spool space.
func TestCopiedArchiveTakesSpoolSpace(t *testing.T) {
	t.Parallel()
	archive := asZip(t, zipMember{name: "s.fasta", content: ">a\nACGT\n>b\nTT\n"})
	for room, want := range map[int64]error{int64(len(archive)) - 1: spool.ErrFull, 1 << 20: nil} {
		_, err := check(t, Request{
			Organism: zika(t), Metadata: written("m.tsv", twoRows), Spool: spool.NewDir(t.TempDir(), room),
			Sequences: &File{Name: "s.fasta.zip", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(bytes.NewReader(archive))), nil
			}},
		})
		if !errors.Is(err, want) {
			t.Errorf("room for %d bytes: got %v, want %v", room, err, want)
		}
	}
}

func TestZipWithManyMembersIsRefusedEarly(t *testing.T) {
	t.Parallel()
	members := make([]zipMember, 30_000)
	for i := range members {
		members[i].name = "a"
	}
	_, err := sequencesAs(t, "s.fasta.zip", asZip(t, members...), Limits{})
	wantRefusal(t, err, "too many members")
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	r := Request{Organism: zika(t), Spool: spool.NewDir(dir, 0), Metadata: written("m.tsv", twoRows)}
	r.Sequences = generated("s.fasta", "", 1<<30, func(i int) string {
		if i == 100 {
			cancel()
		}
		return ">x\nACGT\n"
	})
	if _, err := Check(ctx, r); !errors.Is(err, context.Canceled) || isRefusal(err) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
