package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// sequenceRecord is one record of a sequence file.
type sequenceRecord struct {
	id      string // empty if the header has none
	line    int    // of the header
	letters []byte // as in the file; valid until the next record
	faulty  bool   // a problem was reported; letters are not complete
}

// fasta reads sequence records. The id ends at the first blank or tab of the
// header. Blank lines and blanks at line ends are ignored. A sequence may hold
// letters in either case and - . ? * and is kept letter by letter.
type fasta struct {
	text    *text
	limits  Limits
	report  func(seqlease.Problem)
	record  sequenceRecord
	started bool
	ended   bool
	inLine  bool   // the last fragment didn't end its line
	column  int    // of the next byte in the line, from 1
	blank   int    // column of the first blank of the line, 0 if none
	header  []byte // what was read of the next record's header
	line    int    // of that header
}

// maxHeader bounds how much of a header is looked at to find the id.
const maxHeader = 4 << 10

// sequenceLetters is the set of characters that a sequence may hold.
var sequenceLetters = func() (set [256]bool) {
	for b := byte('A'); b <= 'Z'; b++ {
		set[b], set[b-'A'+'a'] = true, true
	}
	for _, b := range []byte("-.?*") {
		set[b] = true
	}
	return set
}()

// next returns the next record or io.EOF. Faults of one record are reported and
// the next record is still read; other errors end the file.
func (f *fasta) next() (sequenceRecord, error) {
	if f.ended {
		return sequenceRecord{}, io.EOF
	}
	if !f.started {
		f.started = true
		if err := f.begin(); err != nil {
			return sequenceRecord{}, err
		}
	}
	f.beginRecord()
	for {
		piece, last, err := f.text.fragment()
		if errors.Is(err, io.EOF) {
			f.ended = true
			break
		}
		if err != nil {
			return sequenceRecord{}, err
		}
		if !f.inLine && len(piece) > 0 && piece[0] == '>' {
			if err := f.readHeader(piece, last); err != nil {
				return sequenceRecord{}, err
			}
			break
		}
		if err := f.sequence(piece, last); err != nil {
			return sequenceRecord{}, err
		}
	}
	if len(f.record.letters) == 0 && !f.record.faulty {
		f.fault(f.record.line, "", "the record has a header and no sequence")
	}
	return f.record, nil
}

// begin reads up to the first header, before which there may be blank lines only.
func (f *fasta) begin() error {
	for {
		piece, last, err := f.text.fragment()
		if errors.Is(err, io.EOF) {
			return faultError{seqlease.Problem{File: f.text.file, Message: "the file is empty"}}
		}
		if err != nil {
			return err
		}
		if len(bytes.Trim(piece, " \t")) == 0 {
			continue
		}
		if piece[0] != '>' {
			return faultError{seqlease.Problem{File: f.text.file, Line: f.text.line, Message: notFASTA(piece)}}
		}
		return f.readHeader(piece, last)
	}
}

// notFASTA says what a file is whose first line is this.
func notFASTA(line []byte) string {
	switch {
	case line[0] == '@':
		return `this looks like FASTQ; convert it to FASTA, whose headers begin with ">"`
	case bytes.HasPrefix(line, []byte("LOCUS")), bytes.HasPrefix(line, []byte("ORIGIN")):
		return `this looks like a GenBank file; export the records as FASTA, whose headers begin with ">"`
	case line[0] == ';':
		return `comment lines are not supported; the first line must be a header that begins with ">"`
	case bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte(">")):
		return `there are blanks before the ">" of the header; it must be the first character of the line`
	case bytes.IndexByte(line, '\t') >= 0, bytes.IndexByte(line, ',') >= 0:
		return `this looks like a table, not like FASTA; are the metadata file and the sequence file swapped?`
	default:
		return quoted(string(line)) + ` stands before the first header; a record begins with a line ">id"`
	}
}

// readHeader takes the rest of a header line; the record begins with the next call of next.
func (f *fasta) readHeader(piece []byte, last bool) error {
	f.line = f.text.line
	f.header = append(f.header[:0], piece[1:min(len(piece), maxHeader)]...)
	for !last {
		var err error
		if piece, last, err = f.text.fragment(); err != nil {
			return err
		}
		f.header = append(f.header, piece[:min(len(piece), maxHeader-min(len(f.header), maxHeader))]...)
	}
	return nil
}

// beginRecord makes a record of the header that was read.
func (f *fasta) beginRecord() {
	id := strings.TrimLeft(string(f.header), " \t")
	if end := strings.IndexAny(id, " \t"); end >= 0 {
		id = id[:end]
	}
	f.record = sequenceRecord{id: id, line: f.line, letters: f.record.letters[:0]}
	f.inLine, f.column, f.blank = false, 1, 0
	switch message := idFault(id); {
	case id == "":
		f.fault(f.line, "", `the header has no id; write it right after ">"`)
	case id[0] == '>':
		f.fault(f.line, id, `the header begins with two ">"; one is right`)
	case message != "":
		f.fault(f.line, id, message)
	}
}

// fault reports a fault of the record; value may be empty.
func (f *fasta) fault(line int, value, message string) {
	f.record.faulty = true
	f.report(seqlease.Problem{File: f.text.file, Line: line, Record: short(f.record.id), Value: short(value), Message: message})
}

// sequence takes a fragment of a sequence line.
func (f *fasta) sequence(piece []byte, last bool) error {
	column := f.column
	if f.inLine = !last; last {
		f.column = 1
	} else {
		f.column += len(piece)
	}
	for start := 0; start < len(piece) && !f.record.faulty; {
		stop := start
		for stop < len(piece) && sequenceLetters[piece[stop]] {
			stop++
		}
		if stop > start {
			if f.blank > 0 {
				f.fault(f.text.line, string(piece[start:stop]), blankMessage(f.blank))
				break
			}
			if len(f.record.letters)+stop-start > f.limits.SequenceBytes {
				return tooLarge(seqlease.Problem{
					File: f.text.file, Line: f.text.line, Record: short(f.record.id),
					Message: fmt.Sprintf("the sequence is longer than %s, which is the limit", inBytes(f.limits.SequenceBytes)),
				})
			}
			if len(f.record.letters) > largeBytes {
				if err := f.text.large(); err != nil {
					return err
				}
			}
			f.record.letters = append(f.record.letters, piece[start:stop]...)
		}
		if stop < len(piece) {
			f.other(piece[stop:], column+stop)
			stop++
		}
		start = stop
	}
	if last {
		f.blank = 0
	}
	return nil
}

// other judges a character that is no letter of a sequence.
func (f *fasta) other(rest []byte, column int) {
	if rest[0] == ' ' || rest[0] == '\t' {
		if f.blank == 0 {
			f.blank = column
		}
		return
	}
	r, size := utf8.DecodeRune(rest)
	var message string
	switch {
	case rest[0] == '>' && f.blank == 1:
		message = `there are blanks before the ">" of the header; it must be the first character of the line`
	case rest[0] == '>':
		message = fmt.Sprintf(`column %d: ">" in the middle of a line; a header begins on a line of its own`, column)
	case rest[0] == ';' && column == 1:
		message = "comment lines are not supported"
	case f.blank > 0:
		message = blankMessage(f.blank)
	case r == utf8.RuneError && size <= 1:
		message = fmt.Sprintf("column %d: the byte 0x%02X can't stand in a sequence", column, rest[0])
	default:
		message = fmt.Sprintf("column %d: the character %s can't stand in a sequence; letters and - . ? * can", column, describe(r))
	}
	value := string(rest[:size])
	if r == utf8.RuneError {
		value = "" // it can't be shown; the message has the byte
	}
	f.fault(f.text.line, value, message)
}

func blankMessage(column int) string {
	return fmt.Sprintf("column %d: a blank inside a sequence line; numbered or grouped sequences, as in a GenBank ORIGIN block, must be converted to FASTA", column)
}
