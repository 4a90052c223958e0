package unpack

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// asXZ compresses.
func asXZ(tb testing.TB, content []byte, config xz.WriterConfig) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := config.NewWriter(&b)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// setXZDictionary changes the dictionary size of the first block (its code is
// that of The .xz File Format 5.3.1) and its header's checksum.
func setXZDictionary(file []byte, code byte) {
	const streamHeader = 12
	size := (int(file[streamHeader]) + 1) * 4
	header := file[streamHeader : streamHeader+size]
	i := bytes.Index(header, []byte{0x21, 1})
	header[i+2] = code
	binary.LittleEndian.PutUint32(header[size-4:], crc32.ChecksumIEEE(header[:size-4]))
}

func TestXZGuardPassesWholeFilesThrough(t *testing.T) {
	t.Parallel()
	content := make([]byte, 150_000)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	files := map[string][]byte{
		"incompressible": asXZ(t, content, xz.WriterConfig{}),
		"blocks":         asXZ(t, content, xz.WriterConfig{BlockSize: 10_000, CheckSum: xz.CRC32}),
		"letters":        asXZ(t, bytes.Repeat([]byte("ACGT"), 100_000), xz.WriterConfig{CheckSum: xz.SHA256, BlockSize: 70_001}),
		"empty":          asXZ(t, nil, xz.WriterConfig{}),
	}
	files["two streams"] = bytes.Join([][]byte{files["blocks"], make([]byte, 4), files["letters"]}, nil)
	for name, file := range files {
		got, err := io.ReadAll(newXZGuard(bytes.NewReader(file), atMost(MaxWindow)))
		if err != nil || !bytes.Equal(got, file) {
			t.Errorf("%s: %d of %d bytes passed: %v", name, len(got), len(file), err)
		}
	}
}

func TestXZGuardLimitIsInclusive(t *testing.T) {
	t.Parallel()
	file := asXZ(t, []byte("ACGT"), xz.WriterConfig{})
	for _, c := range []struct {
		code byte
		ok   bool
	}{{28, true}, {29, false}, {40, false}} { // 64 MiB, 96 MiB, 4 GiB
		setXZDictionary(file, c.code)
		_, err := io.ReadAll(newXZGuard(bytes.NewReader(file), atMost(MaxWindow)))
		if got := err == nil; got != c.ok {
			t.Errorf("code %d: %v", c.code, err)
		}
	}
}

func TestXZGuardRefusesWhatItCannotFollow(t *testing.T) {
	t.Parallel()
	file := asXZ(t, []byte("ACGT"), xz.WriterConfig{})
	const streamHeader = 12
	cases := []struct {
		name string
		at   int
		to   byte
		want string
	}{
		{"second magic", 0, 'x', "no xz stream"},
		{"two filters", streamHeader + 1, file[streamHeader+1] | 1, "filter"},
		{"another filter", bytes.Index(file, []byte{0x21, 1}), 0x03, "filter"},
		{"properties of another size", bytes.Index(file, []byte{0x21, 1}) + 1, 2, "bad xz block header"},
		{"chunk", streamHeader + (int(file[streamHeader])+1)*4, 0x7f, "bad LZMA2 chunk"},
		{"index of more blocks", bytes.LastIndex(file, []byte("YZ")) - 10 - 8 + 1, 9, "index"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			damaged := bytes.Clone(file)
			damaged[c.at] = c.to
			_, err := io.ReadAll(newXZGuard(bytes.NewReader(damaged), atMost(MaxWindow)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Not parallel: it measures what the whole process allocates.
func TestDictionariesOverTheLimitAreNotAllocated(t *testing.T) {
	enormous := asXZ(t, []byte("ACGT"), xz.WriterConfig{})
	setXZDictionary(enormous, 37) // 1.5 GiB
	cases := []struct {
		name    string
		content []byte
		size    string
	}{
		{"a.xz", enormous, "1536"},
		{"a.xz", append(asXZ(t, []byte("ACGT"), xz.WriterConfig{}), enormous...), "1536"},
		{"a.lzma", append([]byte("\x5d\x00\x00\x00\x60"), bytes.Repeat([]byte{0xff}, 8)...), "1536"},
		{"a.lzma", append([]byte("\x5d\xff\xff\xff\xff"), bytes.Repeat([]byte{0xff}, 8)...), "4096"},
	}
	for _, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := unpacked(t, c.name, c.content, 1<<20)
		runtime.ReadMemStats(&after)
		wantRefused(t, err, "a dictionary ("+c.size+" MiB) that takes more than 64 MiB of memory")
		wantRefused(t, err, "compress the file again with the usual settings (xz -6)")
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 20 {
			t.Errorf("%s of %d bytes: %d MiB allocated, want at most 20", c.name, len(c.content), got)
		}
	}
}

// FuzzXZGuard: the guard hands on nothing but the file's own bytes, from its beginning.
func FuzzXZGuard(f *testing.F) {
	f.Add(asXZ(f, []byte("ACGT"), xz.WriterConfig{}))
	f.Add(asXZ(f, bytes.Repeat([]byte("ACGT"), 99), xz.WriterConfig{BlockSize: 50, CheckSum: xz.SHA256}))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := io.ReadAll(newXZGuard(bytes.NewReader(content), atMost(1<<20)))
		if !bytes.HasPrefix(content, got) || err == nil && len(got) != len(content) {
			t.Errorf("%d of %d bytes passed: %v", len(got), len(content), err)
		}
	})
}

// atMost refuses larger windows.
func atMost(limit uint64) func(uint64) error {
	return func(bytes uint64) error {
		if bytes > limit {
			return RefusedError{windowMessage(XZ, bytes)}
		}
		return nil
	}
}
