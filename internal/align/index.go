package align

import "fmt"

// MaxSequence is the longest reference or query in bases, whatever the other is.
const MaxSequence = 10 << 20

// wordLengths are the lengths of the k-mers that anchors are made of, in the
// order in which they are tried. 15 is enough up to about 15 % divergence; the
// shorter ones find the chain of genomes that are up to 30 % away.
var wordLengths = []int{15, 11, 9}

// Index is a reference prepared for alignment. It is read-only after [NewIndex]
// and may be used concurrently, with one [Aligner] per goroutine.
type Index struct {
	reference []byte
	words     []wordTable // one for each of wordLengths
}

// NewIndex prepares a reference of 1 to [MaxSequence] capital letters. The index
// keeps the slice, which must not change any more.
func NewIndex(reference []byte) (*Index, error) {
	if len(reference) == 0 || len(reference) > MaxSequence {
		return nil, fmt.Errorf("index reference: it has %d bases, must be 1 to %d", len(reference), MaxSequence)
	}
	ix := &Index{reference: reference}
	for _, k := range wordLengths {
		ix.words = append(ix.words, newWordTable(reference, k))
	}
	return ix, nil
}

// Length is the number of bases of the reference.
func (ix *Index) Length() int { return len(ix.reference) }

// MaxQuery is the longest query in bases that is tried against this reference:
// twice the reference and 10,000, at most [MaxSequence]. It bounds the work for a
// sequence that is of another organism altogether.
func (ix *Index) MaxQuery() int { return maxQuery(len(ix.reference)) }

func maxQuery(reference int) int { return min(2*reference+10_000, MaxSequence) }

// wordTable finds where a k-mer stands that occurs once in the reference. It is a
// hash table with open addressing, at most half full.
type wordTable struct {
	k     int
	shift int // 64 minus the table size's exponent
	slots []wordSlot
}

type wordSlot struct {
	word     uint32 // 2 bits per base; noWord in a free slot
	position int32  // 0-based start in the reference; repeated if there is more than one
}

const (
	noWord   = ^uint32(0) // no word of at most 15 bases has this code
	repeated = -1
)

func newWordTable(reference []byte, k int) wordTable {
	exponent := 4
	for 1<<exponent < 2*len(reference) {
		exponent++
	}
	t := wordTable{k: k, shift: 64 - exponent, slots: make([]wordSlot, 1<<exponent)}
	for i := range t.slots {
		t.slots[i].word = noWord
	}
	for start, word := range words(reference, k) {
		s := t.slot(word)
		if s.word == noWord {
			*s = wordSlot{word: word, position: int32(start)}
		} else {
			s.position = repeated
		}
	}
	return t
}

// slot returns the slot that holds the word, or the free one where it belongs.
func (t *wordTable) slot(word uint32) *wordSlot {
	const golden = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: multiplicative hashing, Knuth 6.4
	mask := len(t.slots) - 1
	for i := int(uint64(word) * golden >> t.shift); ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.word == word || s.word == noWord {
			return s
		}
	}
}

// find returns where the word stands in the reference, if it stands there once.
func (t *wordTable) find(word uint32) (position int32, found bool) {
	s := t.slot(word)
	return s.position, s.word == word && s.position != repeated
}

// baseCode gives A, C, G and T two bits each, and everything else noBase.
var baseCode = func() (code [256]uint8) {
	for i := range code {
		code[i] = noBase
	}
	code['A'], code['C'], code['G'], code['T'] = 0, 1, 2, 3
	return code
}()

const noBase = 4

// words yields every k-mer without ambiguity codes: its 0-based start and code.
func words(sequence []byte, k int) func(yield func(int, uint32) bool) {
	return func(yield func(int, uint32) bool) {
		mask := uint32(1)<<(2*k) - 1
		word, known := uint32(0), 0
		for i, base := range sequence {
			code := baseCode[base]
			if code == noBase {
				known = 0
				continue
			}
			word = (word<<2 | uint32(code)) & mask
			if known++; known >= k && !yield(i+1-k, word) {
				return
			}
		}
	}
}
