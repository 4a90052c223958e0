package intake

import "hash/maphash"

// idSet numbers ids from 0 in the order in which they are added. It keeps them
// in one piece of memory: about 20 bytes for an id beside its letters.
type idSet struct {
	idList
	slots []int32 // open addressing: index + 1, 0 is free; a power of two of them
	seed  maphash.Seed
}

// idList are ids in one piece of memory.
type idList struct {
	letters []byte
	ends    []int
}

func newIDSet() *idSet { return &idSet{slots: make([]int32, 64), seed: maphash.MakeSeed()} }

func (s *idSet) len() int { return len(s.ends) }

// list returns the ids without what finds them.
func (s *idSet) list() idList { return s.idList }

func (s *idSet) bytes(i int) []byte {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.letters[start:s.ends[i]]
}

func (s *idSet) at(i int) string { return string(s.bytes(i)) }

// add returns the number of the id and whether it was there before.
func (s *idSet) add(id string) (index int, found bool) {
	if 4*(s.len()+1) > 3*len(s.slots) {
		s.grow()
	}
	slot, index := s.slot(id)
	if index >= 0 {
		return index, true
	}
	s.letters = append(s.letters, id...)
	s.ends = append(s.ends, len(s.letters))
	s.slots[slot] = int32(s.len())
	return s.len() - 1, false
}

// slot finds the slot of the id and its number, -1 if it isn't there.
func (s *idSet) slot(id string) (slot uint64, index int) {
	mask := uint64(len(s.slots) - 1)
	for slot = maphash.String(s.seed, id) & mask; s.slots[slot] != 0; slot = (slot + 1) & mask {
		if index = int(s.slots[slot] - 1); string(s.bytes(index)) == id {
			return slot, index
		}
	}
	return slot, -1
}

func (s *idSet) grow() {
	s.slots = make([]int32, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for i := range s.len() {
		slot := maphash.Bytes(s.seed, s.bytes(i)) & mask
		for s.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s.slots[slot] = int32(i + 1)
	}
}
