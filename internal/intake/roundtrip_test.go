package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"
	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/spool"
)

// linesOf reads a text to its end, whole lines or fragments.
func linesOf(t *text) ([]string, error) {
	var lines []string
	for {
		line, err := t.wholeLine(1 << 30)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(line))
	}
}

// TestTextSplitsLikeReplacing: lines do not depend on how the bytes arrive, and
// are what remains when every line end is written as LF.
func TestTextSplitsLikeReplacing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"\n", "\r", "\r\n", "a", "bc", " "})).Draw(rt, "parts")
		content := strings.Join(parts, "")
		want := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(content), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		var r io.Reader = strings.NewReader(content)
		if rapid.Bool().Draw(rt, "one byte at a time") {
			r = iotest.OneByteReader(r)
		}
		x, err := newText("file", r, func() error { return nil })
		if err != nil {
			rt.Fatal(err)
		}
		x.buf = append(x.buf[:x.end:x.end], make([]byte, rapid.IntRange(0, 3).Draw(rt, "more buffer"))...)
		if len(x.buf) == 0 {
			x.buf = make([]byte, 1)
		}
		got, err := linesOf(x)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" || x.line != len(want) {
			rt.Fatalf("%q: line number %d; lines (-want +got):\n%s", content, x.line, diff)
		}
	})
}

// TestTextAcrossBuffers puts every line end at every place around the end of the buffer.
func TestTextAcrossBuffers(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r", "\r\n"} {
		for n := textBuffer - 3; n <= textBuffer+3; n++ {
			x, err := newText("file", strings.NewReader(strings.Repeat("a", n)+end+"b"+end), func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			got, err := linesOf(x)
			if err != nil || len(got) != 2 || len(got[0]) != n || got[1] != "b" {
				t.Errorf("line of %d and %q: %d lines, %v", n, end, len(got), err)
			}
		}
	}
}

// upload is a valid upload as a property test draws it.
type upload struct {
	columns []string
	rows    []entry
}

func drawUpload(rt *rapid.T) upload {
	id := rapid.StringMatching(`[A-Za-z0-9/_.|:,é台🦠-]{1,12}`).Filter(func(s string) bool { return s != ">" })
	// A carriage return in a value would come back as a line feed.
	value := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 && r != '\r' && utf8.ValidRune(r) }))
	letters := rapid.StringMatching(`[ACGTNacgtn.?*-]{1,200}`)
	u := upload{columns: rapid.SliceOfNDistinct(rapid.StringMatching(`v[a-z "']{0,5}x`), 1, 4, rapid.ID).Draw(rt, "columns")}
	ids := rapid.SliceOfNDistinct(id, 1, 8, rapid.ID).Draw(rt, "ids")
	for _, id := range ids {
		e := entry{SubmissionID: id, Data: seqlease.SubmittedData{Metadata: map[string]string{}}}
		for _, c := range u.columns {
			e.Data.Metadata[c] = value.Draw(rt, "value")
		}
		e.Data.UnalignedNucleotideSequences = map[string]string{id: letters.Draw(rt, "letters")}
		u.rows = append(u.rows, e)
	}
	return u
}

// field writes a value as a field that reads back as the value.
func field(rt *rapid.T, value string) string {
	plain := strings.Trim(value, " ") == value && !strings.ContainsAny(value, "\t\n\"") && value != ""
	if plain && rapid.Bool().Draw(rt, "plain") {
		return value
	}
	return ` "` + strings.ReplaceAll(value, `"`, `""`) + `" `
}

// files writes the upload as its two files, in one of the ways that they may be written.
func (u upload) files(rt *rapid.T) (metadata, sequences []byte) {
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "line end")
	var m, s bytes.Buffer
	if rapid.Bool().Draw(rt, "byte order mark") {
		m.WriteString("\ufeff")
	}
	m.WriteString("id")
	for _, c := range u.columns {
		m.WriteString("\t" + field(rt, c))
	}
	for _, e := range u.rows {
		m.WriteString(end + e.SubmissionID)
		for _, c := range u.columns {
			m.WriteString("\t" + field(rt, e.Data.Metadata[c]))
		}
	}
	for _, e := range rapid.Permutation(u.rows).Draw(rt, "order") {
		fmt.Fprintf(&s, ">%s description%s", e.SubmissionID, end)
		for rest := e.Data.UnalignedNucleotideSequences[e.SubmissionID]; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "line length")
			s.WriteString(rest[:n] + end)
			rest = rest[n:]
		}
	}
	return m.Bytes(), s.Bytes()
}

func TestUploadsRoundTrip(t *testing.T) {
	t.Parallel()
	o, dir := zika(t), t.TempDir()
	compress := map[string]func([]byte) []byte{
		"":     func(b []byte) []byte { return b },
		".gz":  func(b []byte) []byte { return asGzip(t, b) },
		".zst": func(b []byte) []byte { return asZstd(t, b) },
		".xz":  func(b []byte) []byte { return asXZ(t, b, xz.WriterConfig{}) },
		".zip": func(b []byte) []byte { return asZip(t, zipMember{name: "x", content: string(b)}) },
	}
	rapid.Check(t, func(rt *rapid.T) {
		u := drawUpload(rt)
		metadata, sequences := u.files(rt)
		suffix := rapid.SampledFrom([]string{"", ".gz", ".zst", ".xz", ".zip"}).Draw(rt, "suffix")
		checked, err := Check(t.Context(), Request{
			Organism: o, Spool: spool.NewDir(dir, 0),
			Metadata:  inMemory("m.tsv"+suffix, compress[suffix](metadata)),
			Sequences: inMemory("s.fasta"+suffix, compress[suffix](sequences)),
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer checked.Close() //nolint:errcheck // checked elsewhere
		if diff := cmp.Diff(u.rows, entries(t, checked)); diff != "" {
			rt.Fatalf("entries (-want +got):\n%s", diff)
		}
	})
}
