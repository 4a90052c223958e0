package httpapi

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/seqlease/seqlease"
)

// longText is from how many bytes on a text isn't shown to the decoder of JSON.
const longText = 128

// standIn begins what stands in for a long text. Nobody outside knows it, so that no
// line has it in it.
var standIn = rand.Text() + "."

// hollow is a line without its long texts. Nearly all of a result is sequences, of
// which a decoder of JSON looks at every letter more than once; finding their ends and
// seeing that nothing in them has a meaning to JSON takes a tenth of that.
type hollow struct {
	line  []byte
	texts [][]byte // parts of the original line, by the number in their stand-in
}

// empty takes the long texts out of a line that may be any bytes. Only those are taken
// out that stand between quotes as they are, so that the line is valid JSON with
// them as it is with their stand-ins, or with neither.
func (h *hollow) empty(line []byte) {
	h.line, h.texts = h.line[:0], h.texts[:0]
	kept := 0 // up to where the line is dealt with
	for at := 0; ; {
		quote := bytes.IndexByte(line[at:], '"')
		if quote < 0 {
			break
		}
		begin := at + quote + 1
		length := textLength(line[begin:])
		if length < 0 {
			break
		}
		at = begin + length + 1
		if text := line[begin : begin+length]; length >= longText && isPlain(text) {
			h.line = append(append(h.line, line[kept:begin]...), standIn...)
			h.line = strconv.AppendInt(h.line, int64(len(h.texts)), 10)
			h.texts = append(h.texts, text)
			kept = begin + length
		}
	}
	h.line = append(h.line, line[kept:]...)
}

// fill puts the texts back into the sequences, and says whether those were all.
func (h *hollow) fill(d *seqlease.ProcessedData) bool {
	filled := 0
	for _, sequences := range []map[string]*string{
		d.UnalignedNucleotideSequences, d.AlignedNucleotideSequences, d.AlignedAminoAcidSequences,
	} {
		for _, sequence := range sequences {
			if sequence == nil {
				continue
			}
			number, found := strings.CutPrefix(*sequence, standIn)
			if !found {
				continue
			}
			if n, err := strconv.Atoi(number); err == nil && n < len(h.texts) {
				*sequence = string(h.texts[n])
				filled++
			}
		}
	}
	return filled == len(h.texts)
}

// textLength returns how many bytes are before the quote that ends a text; -1 if there
// is none.
func textLength(b []byte) int {
	for from := 0; ; {
		quote := bytes.IndexByte(b[from:], '"')
		if quote < 0 {
			return -1
		}
		end := from + quote
		escapes := 0
		for escapes < end && b[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// isPlain says whether a text is printable ASCII without a backslash.
func isPlain(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return false
	}
	// Eight bytes at a time: subtracting 0x20 borrows from the high bit of a byte that
	// is below, and those from 0x80 on have it. A borrow out of a byte means that the
	// answer is no already.
	const high, blanks = 0x8080808080808080, 0x2020202020202020
	for ; len(text) >= 8; text = text[8:] {
		if eight := binary.LittleEndian.Uint64(text); (eight|(eight-blanks))&high != 0 {
			return false
		}
	}
	for _, c := range text {
		if c < ' ' || c >= 0x80 {
			return false
		}
	}
	return true
}
