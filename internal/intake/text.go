package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/unpack"
)

// text reads a file as lines, whatever its line ends are: LF, CRLF, CR or a
// mixture. Lines may have any length: a long one comes in fragments.
type text struct {
	file     string // name in problems
	r        io.Reader
	large    func() error // asks for much memory
	buf      []byte
	pos, end int
	err      error // what r ended with
	lf, cr   int   // where the next LF and CR of buf are; end if there is none
	line     int   // number of the line that the last fragment belongs to, from 1
	open     bool  // the last fragment didn't end its line
	skipLF   bool  // the last line ended with CR
	joined   []byte
}

const textBuffer = 256 << 10

var utf8BOM = []byte("\xef\xbb\xbf")

// newText starts to read; it drops a byte order mark and refuses what is no text.
func newText(file string, r io.Reader, large func() error) (*text, error) {
	t := &text{file: file, r: r, large: large, buf: make([]byte, textBuffer)}
	for t.end < unpack.HeadBytes && t.err == nil {
		t.read()
	}
	if t.err != nil && !errors.Is(t.err, io.EOF) {
		return nil, t.err
	}
	head := t.buf[:t.end]
	if message := notText(head); message != "" {
		return nil, faultError{seqlease.Problem{File: file, Message: message}}
	}
	if bytes.HasPrefix(head, utf8BOM) {
		t.pos = len(utf8BOM)
	}
	t.lf, t.cr = t.find('\n'), t.find('\r')
	return t, nil
}

// notText says what a file is that starts so, if it is a kind of file that
// people upload by mistake.
func notText(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")),
		len(head) >= 4 && (head[0] == 0) != (head[1] == 0) && head[0] == 0 == (head[2] == 0) && head[1] == 0 == (head[3] == 0):
		return "the file is encoded as UTF-16; save it as UTF-8"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "this looks like an Excel file; save it as tab-separated text (UTF-8)"
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return "this is a PDF file; upload plain text"
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return "this is a rich-text document; save it as plain text (UTF-8)"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return "this is a tar archive; upload the file itself, compressed or not"
	}
	if f := unpack.FormatOf(head, ""); f != unpack.Plain {
		return fmt.Sprintf("the file is compressed twice: inside is %s; compress it once", f)
	}
	return ""
}

// read appends to the buffer.
func (t *text) read() {
	for range 100 {
		n, err := t.r.Read(t.buf[t.end:])
		t.end += n
		t.err = err
		if n > 0 || err != nil {
			return
		}
	}
	t.err = io.ErrNoProgress
}

func (t *text) find(b byte) int {
	if i := bytes.IndexByte(t.buf[t.pos:t.end], b); i >= 0 {
		return t.pos + i
	}
	return t.end
}

// fragment returns the next part of the file within one line, without its line
// end; last says that the line ends with it. The bytes are valid until the next
// call. After the last line the error is io.EOF.
func (t *text) fragment() (piece []byte, last bool, err error) {
	for {
		if t.pos == t.end {
			if errors.Is(t.err, io.EOF) && t.open {
				t.open = false
				return nil, true, nil
			}
			if t.err != nil {
				return nil, false, t.err
			}
			t.pos, t.end = 0, 0
			t.read()
			t.lf, t.cr = t.find('\n'), t.find('\r')
			continue
		}
		if t.skipLF {
			t.skipLF = false
			if t.buf[t.pos] == '\n' {
				t.pos++
				t.lf = t.find('\n')
				continue
			}
		}
		if !t.open {
			t.line++
		}
		start, stop := t.pos, min(t.lf, t.cr)
		t.open = stop == t.end
		if t.open {
			t.pos = t.end
			return t.buf[start:stop], false, nil
		}
		t.pos = stop + 1
		if t.skipLF = stop == t.cr; t.skipLF {
			t.cr = t.find('\r')
		} else {
			t.lf = t.find('\n')
		}
		return t.buf[start:stop], true, nil
	}
}

// errLineTooLong is the answer of [text.wholeLine] to a line over the limit.
var errLineTooLong = errors.New("line too long")

// wholeLine returns the next line without its line end, valid until the next
// call; a line of more than limit bytes is errLineTooLong.
func (t *text) wholeLine(limit int) ([]byte, error) {
	piece, last, err := t.fragment()
	if err != nil || last && len(piece) <= limit {
		return piece, err
	}
	t.joined = t.joined[:0]
	for {
		if len(t.joined)+len(piece) > limit {
			return nil, errLineTooLong
		}
		if len(t.joined) > largeBytes {
			if err := t.large(); err != nil {
				return nil, err
			}
		}
		t.joined = append(t.joined, piece...)
		if last {
			return t.joined, nil
		}
		if piece, last, err = t.fragment(); err != nil {
			return nil, err
		}
	}
}
