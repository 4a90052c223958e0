package seqcodec

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH64 (xxHash specification, version 0.1.1).
const (
	prime1 uint64 = 0x9e3779b185ebca87
	prime2 uint64 = 0xc2b2ae3d27d4eb4f
	prime3 uint64 = 0x165667b19e3779f9
	prime4 uint64 = 0x85ebca77c2b2ae63
	prime5 uint64 = 0x27d4eb2f165667c5
)

// checksum is the low half of XXH64 with seed 0, which ends a zstd frame.
func checksum(b []byte) uint32 {
	size := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		lane1, lane2, lane3, lane4 := prime1, prime2, uint64(0), uint64(0)
		lane1 += prime2 // beyond 64 bits, which constants may not be
		lane4 -= prime1
		for ; len(b) >= 32; b = b[32:] {
			lane1 = xxhRound(lane1, binary.LittleEndian.Uint64(b))
			lane2 = xxhRound(lane2, binary.LittleEndian.Uint64(b[8:]))
			lane3 = xxhRound(lane3, binary.LittleEndian.Uint64(b[16:]))
			lane4 = xxhRound(lane4, binary.LittleEndian.Uint64(b[24:]))
		}
		h = bits.RotateLeft64(lane1, 1) + bits.RotateLeft64(lane2, 7) + bits.RotateLeft64(lane3, 12) + bits.RotateLeft64(lane4, 18)
		for _, lane := range [...]uint64{lane1, lane2, lane3, lane4} {
			h = (h^xxhRound(0, lane))*prime1 + prime4
		}
	} else {
		h = prime5
	}
	h += size
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^xxhRound(0, binary.LittleEndian.Uint64(b)), 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*prime1, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return uint32(h ^ h>>32)
}

func xxhRound(lane, input uint64) uint64 {
	return bits.RotateLeft64(lane+input*prime2, 31) * prime1
}
