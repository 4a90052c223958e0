package seqcodec

import "math/bits"

// The three codes of a match in a zstd sequence section with the format's own
// distributions (RFC 8878, 3.1.1.3.2.2). They are made once and only read.
var (
	literalCodes = newCodeTable(6, []int8{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
	})
	lengthCodes = newCodeTable(6, []int8{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1,
	})
	offsetCodes = newCodeTable(5, []int8{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
	})
)

// step is how a decoder gets from a state to the next one: it reads so many bits
// and adds them to the base.
type step struct{ state, bits, base uint8 }

// codeTable is a finite-state code as the encoder uses it, backwards: for a
// symbol and the state that comes after it, the step that leads there.
type codeTable struct {
	log   int
	steps [][]step // by symbol and the state that follows
}

// newCodeTable builds the code of a distribution as RFC 8878, 4.1.1, says: the
// probabilities of the symbols sum up to 1<<log, -1 is less than one.
func newCodeTable(log int, distribution []int8) *codeTable {
	size := 1 << log
	symbols := make([]int, size)
	next := make([]int, len(distribution))
	high := size - 1
	for symbol, share := range distribution {
		next[symbol] = max(int(share), 1)
		if share < 0 {
			symbols[high] = symbol
			high--
		}
	}
	at := 0
	for symbol, share := range distribution {
		for range max(share, 0) {
			symbols[at] = symbol
			for at = (at + size/2 + size/8 + 3) % size; at > high; {
				at = (at + size/2 + size/8 + 3) % size
			}
		}
	}
	t := &codeTable{log: log, steps: make([][]step, len(distribution))}
	for symbol := range t.steps {
		t.steps[symbol] = make([]step, size)
	}
	for state, symbol := range symbols {
		width := log - (bits.Len(uint(next[symbol])) - 1)
		base := next[symbol]<<width - size
		next[symbol]++
		for to := range 1 << width {
			t.steps[symbol][base+to] = step{state: uint8(state), bits: uint8(width), base: uint8(base)}
		}
	}
	return t
}

// bitWriter gathers bits, the first ones lowest. A decoder reads from the end.
type bitWriter struct {
	out  []byte
	bits uint64
	n    uint
}

// add takes up to 32 bits; nothing above them may be set.
func (w *bitWriter) add(value uint32, n uint8) {
	w.bits |= uint64(value) << w.n
	for w.n += uint(n); w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

// move writes the bits that take the decoder from the state before a symbol to
// the given one, and returns the state before.
func (t *codeTable) move(w *bitWriter, symbol, state uint8) uint8 {
	s := t.steps[symbol][state]
	w.add(uint32(state-s.base), s.bits)
	return s.state
}

// extra is a number as the format writes it: a code and bits beside it.
type extra struct {
	bits uint32
	code uint8
	n    uint8
}

// above splits a number at a power of two.
func above(value uint32, code uint8) extra {
	n := uint8(bits.Len32(value) - 1)
	return extra{code: code + n, bits: value - 1<<n, n: n}
}

func literalCode(n uint32) extra {
	switch {
	case n < 16:
		return extra{code: uint8(n)}
	case n < 24: // two for each code
		return extra{code: uint8(16 + (n-16)>>1), bits: n & 1, n: 1}
	case n < 32: // four
		return extra{code: uint8(20 + (n-24)>>2), bits: n & 3, n: 2}
	case n < 48: // eight
		return extra{code: uint8(22 + (n-32)>>3), bits: n & 7, n: 3}
	case n < 64:
		return extra{code: 24, bits: n - 48, n: 4}
	default:
		return above(n, 19)
	}
}

// minLength is the shortest match of the format; lengths are counted from it.
const minLength = 3

func lengthCode(length uint32) extra {
	switch n := length - minLength; {
	case n < 32:
		return extra{code: uint8(n)}
	case n < 40:
		return extra{code: uint8(32 + (n-32)>>1), bits: n & 1, n: 1}
	case n < 48:
		return extra{code: uint8(36 + (n-40)>>2), bits: n & 3, n: 2}
	case n < 64:
		return extra{code: uint8(38 + (n-48)>>3), bits: n & 7, n: 3}
	case n < 96:
		return extra{code: uint8(40 + (n-64)>>4), bits: n & 15, n: 4}
	case n < 128:
		return extra{code: 42, bits: n - 96, n: 5}
	default:
		return above(n, 36)
	}
}

// appendMatches writes the sequences section. The decoder reads it backwards, so
// the last match comes first.
func (s *small) appendMatches(dst []byte) []byte {
	n := len(s.matches)
	if n < 128 {
		dst = append(dst, byte(n))
	} else {
		dst = append(dst, byte(128+n>>8), byte(n))
	}
	if n == 0 {
		return dst
	}
	const ownTables = 0
	w := bitWriter{out: append(dst, ownTables)}
	var literalState, lengthState, offsetState uint8
	for i := n - 1; i >= 0; i-- {
		m := s.matches[i]
		literals, length, offset := literalCode(m.literals), lengthCode(m.length), above(m.offset, 0)
		if i == n-1 { // any state of the symbol will do
			literalState = literalCodes.steps[literals.code][0].state
			lengthState = lengthCodes.steps[length.code][0].state
			offsetState = offsetCodes.steps[offset.code][0].state
		} else {
			offsetState = offsetCodes.move(&w, offset.code, offsetState)
			lengthState = lengthCodes.move(&w, length.code, lengthState)
			literalState = literalCodes.move(&w, literals.code, literalState)
		}
		w.add(literals.bits, literals.n)
		w.add(length.bits, length.n)
		w.add(offset.bits, offset.n)
	}
	w.add(uint32(lengthState), uint8(lengthCodes.log))
	w.add(uint32(offsetState), uint8(offsetCodes.log))
	w.add(uint32(literalState), uint8(literalCodes.log))
	w.add(1, 1) // where the bits end
	if w.n > 0 {
		w.out = append(w.out, byte(w.bits))
	}
	return w.out
}
