package seqcodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// maxSmall is up to which size in bytes documents are compressed by [small]. The
// library's encoders copy their tables of the dictionary anew for each document,
// which takes four times as long as what there is to do for a kilobyte. Measured on
// entries of real genomes: up to here frames are as large as the library's or smaller
// (SARS-CoV-2) and at most a fifth larger (Ebola virus, 3 % from its reference), beyond
// they grow faster, since the codes aren't fitted to the document.
const maxSmall = 4 << 10

// How matches are looked for.
const (
	wordLength   = 12 // of the dictionary: fewer letters occur by chance in every genome
	localLength  = 6  // within the document, which is mostly names and numbers
	repeatLength = 8  // at the same distance as the match before, after a letter that differs
	localBits    = 11
	minHuffman   = 128 // literals: making a code takes longer than all the rest, and saves a fifth of them
	skipShift    = 5   // where nothing is found, each 32nd byte makes the steps longer by one
)

// index finds words of a dictionary. It isn't changed once it is made: all
// encoders share it.
type index struct {
	dict  []byte
	words []uint32 // position + 1 of the last word of each hash; 0: none
	shift uint8
}

// maxIndexBits bounds an index to 4 MiB, whatever the dictionary.
const maxIndexBits = 20

func newIndex(dict []byte) *index {
	size := min(max(bits.Len(uint(len(dict))), 8), maxIndexBits)
	x := &index{dict: dict, words: make([]uint32, 1<<size), shift: uint8(64 - size)}
	for i := 0; i+wordLength <= len(dict); i++ {
		x.words[x.hash(dict[i:])] = uint32(i + 1)
	}
	return x
}

// The factors are odd and irregular, which is all that they need.
func (x *index) hash(b []byte) uint64 {
	return (binary.LittleEndian.Uint64(b)*0x9e3779b97f4a7c15 ^ uint64(binary.LittleEndian.Uint32(b[8:]))*0xd6e8feb86659fd93) * 0xff51afd7ed558ccd >> x.shift
}

func localHash(b []byte) uint64 {
	return (binary.LittleEndian.Uint64(b) << 16) * 0x9e3779b97f4a7c15 >> (64 - localBits)
}

// match is a zstd sequence: so many bytes as they are, then so many from before.
type match struct{ literals, length, offset uint32 } // offset: as in the format, 1 is the one before

// small compresses small documents against a dictionary: one zstd frame of one
// block (RFC 8878) with the format's own code tables. It is for one goroutine.
type small struct {
	local    [1 << localBits]uint16 // position + 1 of the last word of each hash
	literals []byte
	matches  []match
	huff     huff0.Scratch
	frame    []byte
	again    []byte // the document, read back
}

// encode appends the frame of a document of 1 to maxSmall bytes.
func (s *small) encode(dst []byte, x *index, document []byte) ([]byte, error) {
	dst = appendFrameHeader(dst, len(document))
	start := len(dst)
	dst = append(dst, 0, 0, 0) // the header of the block
	s.find(x, document)
	dst, err := s.appendLiterals(dst)
	if err != nil {
		return nil, err
	}
	dst = s.appendMatches(dst)
	kind := uint32(compressedBlock)
	if len(dst)-start-blockHeader >= len(document) {
		dst, kind = append(dst[:start+blockHeader], document...), rawBlock
	}
	header := 1 | kind<<1 | uint32(len(dst)-start-blockHeader)<<3
	dst[start], dst[start+1], dst[start+2] = byte(header), byte(header>>8), byte(header>>16)
	return binary.LittleEndian.AppendUint32(dst, checksum(document)), nil
}

// Kinds of blocks and the size of their header.
const (
	rawBlock        = 0
	compressedBlock = 2
	blockHeader     = 3
)

// appendFrameHeader begins a frame of one segment with its size and a checksum.
func appendFrameHeader(dst []byte, size int) []byte {
	const oneSegment, checksum, twoBytes = 1 << 5, 1 << 2, 1 << 6
	dst = binary.LittleEndian.AppendUint32(dst, 0xfd2fb528)
	if size < 256 {
		return append(dst, oneSegment|checksum, byte(size))
	}
	return binary.LittleEndian.AppendUint16(append(dst, oneSegment|checksum|twoBytes), uint16(size-256))
}

// find cuts the document into matches and literals.
func (s *small) find(x *index, document []byte) {
	clear(s.local[:])
	s.literals, s.matches = s.literals[:0], s.matches[:0]
	done, distance := 0, 0 // what matches cover, and the last one's
	for at := 0; at+wordLength < len(document); {
		from, length, back := s.best(x, document, at, done, distance)
		if length == 0 {
			at += 1 + (at-done)>>skipShift
			continue
		}
		m := match{literals: uint32(from - done), length: uint32(length), offset: uint32(back + 3)}
		if back == distance && from > done {
			m.offset = 1
		}
		s.literals = append(s.literals, document[done:from]...)
		s.matches = append(s.matches, m)
		done, distance = from+length, back
		if at = done; at-2+8 <= len(document) {
			s.local[localHash(document[at-2:])] = uint16(at - 1)
		}
	}
	s.literals = append(s.literals, document[done:]...)
}

// best returns where a match begins that is found at a position, its length, 0 if
// there is none, and how far back it lies; the dictionary lies before the document.
func (s *small) best(x *index, document []byte, at, done, distance int) (from, length, back int) {
	if distance > 0 {
		if n := x.common(document, at+1, distance); n >= repeatLength {
			return at + 1, n, distance
		}
	}
	if p := x.words[x.hash(document[at:])]; p > 0 {
		back = at + len(x.dict) - int(p-1)
		if length = x.common(document, at, back); length < wordLength {
			length = 0
		}
	}
	slot := &s.local[localHash(document[at:])]
	if p := int(*slot); p > 0 {
		if n := x.common(document, at, at-(p-1)); n >= localLength && n > length {
			length, back = n, at-(p-1)
		}
	}
	*slot = uint16(at + 1)
	if length == 0 {
		return 0, 0, 0
	}
	for from = at; from > done && x.same(document, from-1, back); from-- {
		length++
	}
	return from, length, back
}

// common returns how many bytes from a position on are those so far back. What
// begins in the dictionary ends there.
func (x *index) common(document []byte, at, back int) int {
	var before []byte
	if start := at - back; start >= 0 {
		before = document[start:]
	} else if start += len(x.dict); start >= 0 {
		before = x.dict[start:]
	}
	rest := document[at:]
	before = before[:min(len(before), len(rest))]
	n := 0
	for ; n+8 <= len(before); n += 8 {
		if differ := binary.LittleEndian.Uint64(before[n:]) ^ binary.LittleEndian.Uint64(rest[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)>>3
		}
	}
	for n < len(before) && before[n] == rest[n] {
		n++
	}
	return n
}

// same says whether a byte is the one so far back.
func (x *index) same(document []byte, at, back int) bool {
	start := at - back
	if start >= 0 {
		return document[start] == document[at]
	}
	start += len(x.dict)
	return start >= 0 && x.dict[start] == document[at]
}

// appendLiterals writes the literals section, Huffman-coded if that is shorter.
func (s *small) appendLiterals(dst []byte) ([]byte, error) {
	const raw, compressed = 0, 2
	n := uint32(len(s.literals))
	if n >= minHuffman {
		s.huff.Reuse = huff0.ReusePolicyNone
		encode, oneStream := huff0.Compress1X, true
		if n >= 1<<10 {
			encode, oneStream = huff0.Compress4X, false
		}
		packed, _, err := encode(s.literals, &s.huff)
		switch size := uint32(len(packed)); {
		case errors.Is(err, huff0.ErrIncompressible), errors.Is(err, huff0.ErrUseRLE), err == nil && size+2 >= n:
		case err != nil:
			return nil, fmt.Errorf("zstd literals: %w", err)
		case oneStream:
			header := compressed | n<<4 | size<<14
			return append(append(dst, byte(header), byte(header>>8), byte(header>>16)), packed...), nil
		default: // sizes of 14 bits
			return append(binary.LittleEndian.AppendUint32(dst, compressed|2<<2|n<<4|size<<18), packed...), nil
		}
	}
	if n < 32 {
		dst = append(dst, byte(raw|n<<3))
	} else {
		const twelveBits, twentyBits = 1 << 2, 3 << 2
		dst = append(dst, byte(raw|twelveBits|n<<4), byte(n>>4))
		if n >= 1<<12 {
			dst = append(dst[:len(dst)-2], byte(raw|twentyBits|n<<4), byte(n>>4), byte(n>>12))
		}
	}
	return append(dst, s.literals...), nil
}
