package ndjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/ndjson"
)

type numbered struct {
	Number int
	Text   string
}

func readAll(r *ndjson.Reader) ([]numbered, error) {
	var lines []numbered
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, numbered{r.Line(), string(line)})
	}
}

func TestReader_Lines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       []numbered
	}{
		{"empty", "", nil},
		{"line feeds", "a\nb\n", []numbered{{1, "a"}, {2, "b"}}},
		{"no final line end", "a\nb", []numbered{{1, "a"}, {2, "b"}}},
		{"carriage returns", "a\rb\r", []numbered{{1, "a"}, {2, "b"}}},
		{"both", "a\r\nb\r\nc", []numbered{{1, "a"}, {2, "b"}, {3, "c"}}},
		{"mixed", "a\nb\rc\r\nd", []numbered{{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}}},
		{"blank lines count", "\n\n a\n \t\nb\n\n", []numbered{{3, " a"}, {5, "b"}}},
		{"blank line between returns", "a\r\rb", []numbered{{1, "a"}, {3, "b"}}},
		{"only line ends", "\r\n\n\r", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, source := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.body),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.body)),
				"data and end": iotest.DataErrReader(strings.NewReader(tt.body)),
			} {
				got, err := readAll(ndjson.NewReader(source, 100))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(got, tt.want); diff != "" {
					t.Errorf("%s: got/want %s", name, diff)
				}
			}
		})
	}
}

func TestReader_LongLines(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1, 65_534, 65_535, 65_536, 65_537, 131_072, 1 << 20, 5<<20 + 3} {
		long := strings.Repeat("x", length)
		got, err := readAll(ndjson.NewReader(strings.NewReader("first\n"+long+"\r\n"+long+"\nlast"), ndjson.DefaultLimit))
		if err != nil {
			t.Fatalf("%d bytes: %v", length, err)
		}
		want := []numbered{{1, "first"}, {2, long}, {3, long}, {4, "last"}}
		if !cmp.Equal(got, want) {
			t.Errorf("lines of %d bytes come back changed", length)
		}
	}
}

func TestReader_Limit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 10, 65_535, 65_536, 200_000} {
		exact := strings.Repeat("x", limit)
		for _, end := range []string{"", "\n", "\r\n", "\r"} {
			if got, err := readAll(ndjson.NewReader(strings.NewReader("a\n"+exact+end), limit)); err != nil || len(got) != 2 {
				t.Errorf("limit %d, end %q: got %d lines, error %v; want 2 and none", limit, end, len(got), err)
			}
			_, err := readAll(ndjson.NewReader(strings.NewReader("a\n"+exact+"x"+end), limit))
			var tooLong *ndjson.LineTooLongError
			if !errors.As(err, &tooLong) || tooLong.Line != 2 || tooLong.Limit != limit {
				t.Errorf("limit %d, end %q: got error %v, want line 2 too long", limit, end, err)
			}
		}
	}
}

// TestReader_EndlessLine checks that the limit bounds memory, not only the result.
func TestReader_EndlessLine(t *testing.T) {
	t.Parallel()
	largest := 0
	r := ndjson.NewReader(endless{}, 1<<20)
	r.OnResize = func(size int) error { largest = max(largest, size); return nil }
	var tooLong *ndjson.LineTooLongError
	if _, err := r.Next(); !errors.As(err, &tooLong) {
		t.Fatalf("got error %v, want a line too long", err)
	}
	if want := 1<<20 + 2; largest != want {
		t.Errorf("buffer grew to %d bytes, want %d", largest, want)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReader_Resizes(t *testing.T) {
	t.Parallel()
	var sizes []int
	r := ndjson.NewReader(iotest.HalfReader(strings.NewReader(strings.Repeat("x", 200_000)+"\nsmall\nsmaller")), ndjson.DefaultLimit)
	r.OnResize = func(size int) error { sizes = append(sizes, size); return nil }
	if _, err := readAll(r); err != nil {
		t.Fatal(err)
	}
	if want := []int{131_072, 262_144, 65_536}; !cmp.Equal(sizes, want) {
		t.Errorf("buffer sizes %v, want %v", sizes, want)
	}

	refuse := errors.New("no memory")
	r = ndjson.NewReader(endless{}, ndjson.DefaultLimit)
	r.OnResize = func(int) error { return refuse }
	if _, err := r.Next(); !errors.Is(err, refuse) {
		t.Errorf("got error %v, want the one of OnResize", err)
	}
}

// TestReader_CutBody checks that a failing source is never taken for the end.
func TestReader_CutBody(t *testing.T) {
	t.Parallel()
	r := ndjson.NewReader(io.MultiReader(strings.NewReader("a\n{\"half\""), iotest.ErrReader(io.ErrUnexpectedEOF)), 100)
	got, err := readAll(r)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1 {
		t.Errorf("got %v and error %v, want one line and an unexpected end", got, err)
	}
	if _, err := ndjson.NewReader(stuck{}, 100).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got error %v of a reader that never returns anything, want no progress", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestWriter_Escapes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"plain", `{"a":"b"}`, `{"a":"b"}`},
		{"line separator", "\"a\u2028b\"", `"a\u2028b"`},
		{"paragraph separator", "\"a\u2029\"", `"a\u2029"`},
		{"next line", "\"\u0085a\"", `"\u0085a"`},
		{"all", "\"\u2029\u0085\u2028\u2028\"", `"\u2029\u0085\u2028\u2028"`},
		{"no-break space stays raw", "\"a\u00a0b\"", "\"a\u00a0b\""},
		{"neighbours stay raw", "\"\u2027\u202a\u0084\u0086…–é中🦠\"", "\"\u2027\u202a\u0084\u0086…–é中🦠\""},
		{"half a separator at the end", "\"\xe2\x80", "\"\xe2\x80"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := ndjson.NewWriter(&b).WriteLine([]byte(tt.in)); err != nil {
				t.Fatal(err)
			}
			if got, want := b.String(), tt.want+"\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if err := ndjson.NewWriter(iotest.TruncateWriter(failing{}, 0)).WriteLine([]byte("{}")); err != nil {
		t.Errorf("a truncating writer reports no error, got %v", err)
	}
	if err := ndjson.NewWriter(failing{}).WriteLine([]byte("{}")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want the writer's", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\nc\rd"), 10)
	f.Add([]byte("\r\r\n\n x \n"), 3)
	f.Add([]byte(strings.Repeat("y", 300)), 299)
	f.Fuzz(func(t *testing.T, body []byte, limit int) {
		if limit < 1 || limit > 1<<20 {
			return
		}
		var want []numbered
		tooLong := 0
		text := strings.ReplaceAll(strings.ReplaceAll(string(body), "\r\n", "\n"), "\r", "\n")
		for i, line := range strings.Split(text, "\n") {
			if len(line) > limit {
				tooLong = i + 1
				break
			}
			if strings.Trim(line, " \t") != "" {
				want = append(want, numbered{i + 1, line})
			}
		}
		got, err := readAll(ndjson.NewReader(iotest.HalfReader(bytes.NewReader(body)), limit))
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("got/want %s", diff)
		}
		var e *ndjson.LineTooLongError
		switch {
		case tooLong == 0 && err != nil:
			t.Errorf("error %v, want none", err)
		case tooLong > 0 && (!errors.As(err, &e) || e.Line != tooLong):
			t.Errorf("error %v, want line %d too long", err, tooLong)
		}
	})
}

func FuzzWriter(f *testing.F) {
	f.Add("a\u2028b\u2029c\u0085d\u00a0")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		document, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		line := ndjson.AppendLine(nil, document)
		var back string
		if err := json.Unmarshal(line, &back); err != nil || back != text {
			t.Errorf("%q came back as %q, error %v", text, back, err)
		}
		if strings.ContainsAny(string(line), "\u0085\u2028\u2029") || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%q is more than one line", line)
		}
	})
}

func ExampleReader() {
	r := ndjson.NewReader(strings.NewReader("{\"n\":1}\r\n\n{\"n\":2}"), ndjson.DefaultLimit)
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %s\n", r.Line(), line)
	}
	// Output:
	// 1: {"n":1}
	// 3: {"n":2}
}

func ExampleWriter() {
	w := ndjson.NewWriter(os.Stdout)
	if err := w.WriteLine([]byte(`{"accession":"LOC_000001Y"}`)); err != nil {
		fmt.Println(err)
	}
	// Output: {"accession":"LOC_000001Y"}
}
