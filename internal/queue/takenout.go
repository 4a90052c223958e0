package queue

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strconv"

	"github.com/seqlease/seqlease"
)

// longSequence is from how many bytes on a sequence isn't shown to the encoder of JSON.
const longSequence = 128

// standIn begins what stands in for a long sequence, which a blank ends. Nobody outside
// knows it, so that no text has it in it.
var standIn = rand.Text()

// takenOut are sequences that are left out of a result while its document is made: an
// encoder of JSON looks at each of their letters for what must be escaped.
type takenOut []string

// take replaces long sequences by what stands for them, in copies of the maps.
func (t *takenOut) take(d *seqlease.ProcessedData) {
	for _, sequences := range []*map[string]*string{
		&d.UnalignedNucleotideSequences, &d.AlignedNucleotideSequences, &d.AlignedAminoAcidSequences,
	} {
		short := make(map[string]*string, len(*sequences))
		for name, sequence := range *sequences {
			if len(*sequence) >= longSequence {
				stand := standIn + strconv.Itoa(len(*t)) + " "
				*t = append(*t, *sequence)
				sequence = &stand
			}
			short[name] = sequence
		}
		*sequences = short
	}
}

// appendWhole appends the document with the sequences in their places.
func (t takenOut) appendWhole(dst, document []byte) []byte {
	size := len(document)
	for _, sequence := range t {
		size += len(sequence)
	}
	dst = slices.Grow(dst, size)
	for range t {
		before, rest, _ := bytes.Cut(document, []byte(standIn))
		number, rest, _ := bytes.Cut(rest, []byte(" "))
		n, _ := strconv.Atoi(string(number)) // it was written above
		dst = append(append(dst, before...), t[n]...)
		document = rest
	}
	return append(dst, document...)
}
