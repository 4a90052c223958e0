package ndjson

import (
	"bytes"
	"fmt"
	"io"
)

// Writer writes JSON documents as lines. It is for one goroutine and does not
// buffer across lines.
type Writer struct {
	target io.Writer
	line   []byte
}

// NewWriter returns a writer to target.
func NewWriter(target io.Writer) *Writer { return &Writer{target: target} }

// WriteLine writes a JSON document, which has no raw line break, as one line,
// escaped as [AppendLine] says.
func (w *Writer) WriteLine(document []byte) error {
	w.line = AppendLine(w.line[:0], document)
	if _, err := w.target.Write(w.line); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// AppendLine appends a JSON document and a line end. The characters U+0085,
// U+2028 and U+2029, which some readers take for line ends, become JSON escapes;
// all others stay as they are. In JSON they can stand in strings only, so that
// the document keeps its meaning.
func AppendLine(dst, document []byte) []byte {
	return append(AppendEscaped(dst, document), '\n')
}

// AppendEscaped appends a part of a JSON document with the escapes of
// [AppendLine].
func AppendEscaped(dst, document []byte) []byte {
	for {
		at, width, escape := nextSeparator(document)
		if at < 0 {
			return append(dst, document...)
		}
		dst = append(append(dst, document[:at]...), escape...)
		document = document[at+width:]
	}
}

// nextSeparator finds the first separator: where it is, how many bytes it has
// and its escape. In UTF-8: U+0085 is C2 85, U+2028 is E2 80 A8, U+2029 E2 80 A9.
func nextSeparator(b []byte) (at, width int, escape string) {
	at = -1
	if i := bytes.Index(b, []byte{0xC2, 0x85}); i >= 0 {
		at, width, escape = i, 2, `\u0085`
		b = b[:i]
	}
	for offset := 0; ; {
		i := bytes.Index(b[offset:], []byte{0xE2, 0x80})
		if i < 0 {
			return at, width, escape
		}
		offset += i + 2
		if offset < len(b) && b[offset] == 0xA8 {
			return offset - 2, 3, `\u2028`
		}
		if offset < len(b) && b[offset] == 0xA9 {
			return offset - 2, 3, `\u2029`
		}
	}
}
