package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// row is one record of a table. A field in quotes may span several lines, so
// that line is where the record begins.
type row struct {
	line  int
	cells [][]byte // without blanks around them and without their quotes
}

// table reads tab-separated text. A field that begins with a double quote ends
// at the next single one; inside, tabs, line breaks and doubled quotes are
// content. A quote anywhere else is plain text. Blanks around a field are
// dropped, lines of nothing but blanks are skipped.
type table struct {
	text   *text
	limits Limits
	data   []byte // contents of the cells
	ends   []int
	cells  [][]byte
}

// next returns the next row, valid until the following call, or io.EOF. Its
// other errors end the file: what follows can't be told apart any more.
func (t *table) next() (row, error) {
	for {
		line, err := t.line()
		if err != nil {
			return row{}, err
		}
		if len(bytes.Trim(line, " ")) > 0 {
			return t.parse(line)
		}
	}
}

// line returns the next line of the text, which must be UTF-8.
func (t *table) line() ([]byte, error) {
	line, err := t.text.wholeLine(t.limits.RowBytes)
	if errors.Is(err, errLineTooLong) {
		return nil, t.fault(t.text.line, fmt.Sprintf("the line is longer than %s, which is the limit of a row", inBytes(t.limits.RowBytes)))
	}
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(line) {
		at := 0
		for r, n := utf8.DecodeRune(line); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(line[at:]) {
			at += n
		}
		return nil, t.fault(t.text.line, fmt.Sprintf("byte %d of the line (0x%02X) is not UTF-8; save the file as UTF-8", at+1, line[at]))
	}
	return line, nil
}

func (t *table) fault(line int, message string) error {
	return faultError{seqlease.Problem{File: t.text.file, Line: line, Message: message}}
}

func (t *table) parse(line []byte) (row, error) {
	first := t.text.line
	t.data, t.ends, t.cells = t.data[:0], t.ends[:0], t.cells[:0]
	for {
		var more bool
		var err error
		start := len(t.data)
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '"' {
			line, more, err = t.quoted(line[1:])
		} else {
			var cell []byte
			cell, line, more = bytes.Cut(line, []byte{'\t'})
			t.data = append(t.data, bytes.TrimRight(cell, " ")...)
		}
		if err != nil {
			return row{}, err
		}
		t.ends = append(t.ends, len(t.data))
		if len(t.data)-start > t.limits.CellBytes {
			return row{}, t.fault(first, fmt.Sprintf("field %d is longer than %s, which is the limit", len(t.ends), inBytes(t.limits.CellBytes)))
		}
		if len(t.data) > t.limits.RowBytes {
			return row{}, t.fault(first, fmt.Sprintf("the row is longer than %s, which is the limit", inBytes(t.limits.RowBytes)))
		}
		if len(t.data) > largeBytes {
			if err := t.text.large(); err != nil {
				return row{}, err
			}
		}
		if !more {
			break
		}
	}
	start := 0
	for _, end := range t.ends {
		t.cells = append(t.cells, t.data[start:end])
		start = end
	}
	return row{line: first, cells: t.cells}, nil
}

// quoted reads a field after its opening quote. It returns what follows the tab
// after it, and whether there was one. Line breaks inside become LF.
func (t *table) quoted(line []byte) (rest []byte, more bool, err error) {
	opened, start := t.text.line, len(t.data)
	for {
		end := bytes.IndexByte(line, '"')
		if end < 0 {
			t.data = append(append(t.data, line...), '\n')
			if len(t.data)-start > t.limits.CellBytes {
				return nil, false, t.fault(opened, fmt.Sprintf(
					"the quote opened in this line is not closed within %s, which is the limit of a field", inBytes(t.limits.CellBytes)))
			}
			line, err = t.line()
			if errors.Is(err, io.EOF) {
				return nil, false, t.fault(opened, "the quote opened in this line is never closed; close it, or double it if it belongs to the value")
			}
			if err != nil {
				return nil, false, err
			}
			continue
		}
		t.data = append(t.data, line[:end]...)
		if line = line[end+1:]; len(line) > 0 && line[0] == '"' {
			t.data = append(t.data, '"')
			line = line[1:]
			continue
		}
		after, rest, more := bytes.Cut(line, []byte{'\t'})
		if after = bytes.TrimLeft(after, " "); len(after) > 0 {
			advice := "double a quote that belongs to the value"
			if after[0] == ',' || after[0] == ';' {
				advice = "fields are separated by tabs: save the table as tab-separated text"
			}
			return nil, false, t.fault(opened, fmt.Sprintf(
				"the quote opened in this line is closed in line %d and followed by %s; %s", t.text.line, quoted(string(after)), advice))
		}
		return rest, more, nil
	}
}
