package intake

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Sequences of up to maxShort letters wait with several letters in a byte: what a
// dictionary costs for each document, however small, is more than what it saves
// them. Longer ones take a hundredth with it.
const maxShort = 4 << 10

// How the letters of a sequence wait in the spool: the first byte of its frame.
const (
	inTwoBits    = 2 // A, C, G and T
	inFourBits   = 4 // these and the commonest others
	inWholeBytes = 8
	withZstd     = 0 // against the organism's dictionary
)

// fourBitLetters are the letters with a number below 16; the first four take two bits.
const fourBitLetters = "ACGTN-RYKMSWacgt"

// letterNumbers are the numbers of letters; those without one have a bit that no number has.
var letterNumbers = func() (numbers [256]byte) {
	for i := range numbers {
		numbers[i] = 1 << 4
	}
	for i := range len(fourBitLetters) {
		numbers[fourBitLetters[i]] = byte(i)
	}
	return numbers
}()

// twoBitQuartets are the four letters of each byte, fourBitPairs the two.
var (
	twoBitQuartets = func() (quartets [256][4]byte) {
		for b := range quartets {
			for i := range 4 {
				quartets[b][i] = fourBitLetters[b>>(2*i)&3]
			}
		}
		return quartets
	}()
	fourBitPairs = func() (pairs [256][2]byte) {
		for b := range pairs {
			pairs[b] = [2]byte{fourBitLetters[b&15], fourBitLetters[b>>4]}
		}
		return pairs
	}()
)

// packLetters appends the letters with how they are packed and their number before them.
func packLetters(dst, letters []byte) []byte {
	var all byte
	for _, b := range letters {
		all |= letterNumbers[b]
	}
	kind := byte(inWholeBytes)
	switch {
	case all < 1<<2:
		kind = inTwoBits
	case all < 1<<4:
		kind = inFourBits
	}
	dst = binary.AppendUvarint(append(dst, kind), uint64(len(letters)))
	switch kind {
	case inWholeBytes:
		return append(dst, letters...)
	case inFourBits:
		for pair := range slices.Chunk(letters, 2) {
			dst = append(dst, packBits(pair, 4))
		}
		return dst
	}
	whole := len(letters) &^ 3
	for i := 0; i < whole; i += 4 {
		l := letters[i : i+4 : i+4]
		dst = append(dst, letterNumbers[l[0]]|letterNumbers[l[1]]<<2|letterNumbers[l[2]]<<4|letterNumbers[l[3]]<<6)
	}
	if whole < len(letters) {
		dst = append(dst, packBits(letters[whole:], 2))
	}
	return dst
}

// packBits puts a few letters into a byte, the first into the lowest bits.
func packBits(letters []byte, bits int) (packed byte) {
	for i, b := range letters {
		packed |= letterNumbers[b] << (i * bits)
	}
	return packed
}

// errLetters says that the temporary file is not as it was written.
var errLetters = errors.New("spool: damaged sequence")

// unpackLetters appends what packLetters was given.
func unpackLetters(dst, packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, errLetters
	}
	kind := packed[0]
	count, n := binary.Uvarint(packed[1:])
	if n <= 0 || count > maxShort {
		return nil, errLetters
	}
	packed = packed[1+n:]
	start := len(dst)
	dst = slices.Grow(dst, int(count)+4)
	switch kind {
	case inTwoBits:
		for _, b := range packed {
			dst = append(dst, twoBitQuartets[b][:]...)
		}
	case inFourBits:
		for _, b := range packed {
			dst = append(dst, fourBitPairs[b][:]...)
		}
	case inWholeBytes:
		dst = append(dst, packed...)
	default:
		return nil, errLetters
	}
	if len(dst)-start < int(count) || len(dst)-start > int(count)+3 {
		return nil, errLetters
	}
	return dst[:start+int(count)], nil
}
