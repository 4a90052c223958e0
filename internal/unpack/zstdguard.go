package unpack

import (
	"bufio"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
)

// zstdGuard passes a .zst file through to a decoder and walks its frames and
// blocks on the way (RFC 8878, section 3.1). It tells the window of each frame
// before the decoder sees the frame and allocates it. What it doesn't understand
// it passes on: the decoder says what is wrong.
type zstdGuard struct {
	br       *bufio.Reader
	window   func(bytes uint64) error
	left     int64 // bytes to pass on before the next step
	step     func() error
	checksum int64 // size of the frame's
}

func newZstdGuard(br *bufio.Reader, window func(bytes uint64) error) *zstdGuard {
	g := &zstdGuard{br: br, window: window}
	g.step = g.frame
	return g
}

// Read gives the decoder what comes before the next header.
func (g *zstdGuard) Read(p []byte) (int, error) {
	for g.left == 0 {
		if err := g.step(); err != nil {
			return 0, err
		}
	}
	n, err := g.br.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, err
}

func (g *zstdGuard) frame() error {
	head, _ := g.br.Peek(zstd.HeaderMaxSize) // its error comes again with the next read
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		g.left = math.MaxInt64
		return nil //nolint:nilerr // the decoder finds it again
	}
	g.left = int64(h.HeaderSize)
	if h.Skippable {
		g.left += int64(h.SkippableSize)
		return nil
	}
	g.checksum = 0
	if h.HasCheckSum {
		g.checksum = 4
	}
	g.step = g.block
	if h.SingleSegment {
		return g.window(h.FrameContentSize)
	}
	return g.window(h.WindowSize)
}

func (g *zstdGuard) block() error {
	const header, rle = 3, 1
	b, _ := g.br.Peek(header)
	if len(b) < header {
		g.left = math.MaxInt64
		return nil
	}
	word := uint32(b[0]) | uint32(binary.LittleEndian.Uint16(b[1:]))<<8
	size := int64(word >> 3)
	if word>>1&3 == rle {
		size = 1
	}
	g.left = header + size
	if last := word&1 != 0; last {
		g.left += g.checksum
		g.step = g.frame
	}
	return nil
}
