package unpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// xzGuard passes an .xz file through to a decoder and walks its structure on
// the way (The .xz File Format 1.2.1, tukaani.org): stream header, blocks of
// LZMA2 chunks, index, footer. It tells the dictionary of each block before the
// decoder sees the block, because the decoder allocates what a file asks for, and
// again for each block. It checks no sums: the decoder does.
type xzGuard struct {
	br      *bufio.Reader
	window  func(bytes uint64) error
	cleared []byte // for the decoder
	scratch []byte // backs cleared
	err     error
	step    func() error
	padding int64 // bytes of the block so far
	check   int   // size of a block's check
	blocks  uint64
	records uint64 // numbers of the index that are left
	index   int64  // bytes of the index so far
}

// maxXZBlocks bounds the list of blocks that the decoder keeps in memory.
const maxXZBlocks = 1 << 20

// xzCheckSizes is the size of a block's check by the type in the stream flags.
var xzCheckSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

func newXZGuard(r io.Reader, window func(bytes uint64) error) *xzGuard {
	g := &xzGuard{br: bufio.NewReader(r), window: window}
	g.step = g.streamHeader
	return g
}

// Read gives the decoder what is cleared.
func (g *xzGuard) Read(p []byte) (int, error) {
	for len(g.cleared) == 0 {
		if g.err != nil {
			return 0, g.err
		}
		g.err = g.step()
	}
	n := copy(p, g.cleared)
	g.cleared = g.cleared[n:]
	return n, nil
}

// clear reads n bytes and hands them on.
func (g *xzGuard) clear(n int) error {
	if cap(g.scratch) < n {
		g.scratch = make([]byte, n)
	}
	g.cleared = g.scratch[:n]
	if _, err := io.ReadFull(g.br, g.cleared); err != nil {
		g.cleared = nil
		return unexpected(err)
	}
	return nil
}

func (g *xzGuard) peek(n int) ([]byte, error) {
	b, err := g.br.Peek(n)
	if len(b) < n {
		return nil, unexpected(err)
	}
	return b, nil
}

// streamHeader also passes the padding between streams, four zero bytes each.
func (g *xzGuard) streamHeader() error {
	if b, err := g.br.Peek(1); len(b) == 0 {
		return err // io.EOF: a whole file
	}
	b, err := g.peek(4)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) == 0 {
		return g.clear(4)
	}
	if err := g.clear(12); err != nil {
		return err
	}
	if string(g.cleared[:6]) != "\xfd7zXZ\x00" {
		return errors.New("no xz stream")
	}
	g.check = xzCheckSizes[g.cleared[7]&15]
	g.blocks = 0
	g.step = g.blockHeader
	return nil
}

func (g *xzGuard) blockHeader() error {
	size, err := g.peek(1)
	if err != nil {
		return err
	}
	if size[0] == 0 {
		g.step = g.indexHeader
		return nil
	}
	if g.blocks++; g.blocks > maxXZBlocks {
		return RefusedError{"the xz file has too many blocks; compress it without --block-size"}
	}
	if err := g.clear((int(size[0]) + 1) * 4); err != nil {
		return err
	}
	header := g.cleared
	g.cleared = nil // until its dictionary is found small enough
	dictionary, err := xzDictionary(header)
	if err != nil {
		return err
	}
	if err := g.window(dictionary); err != nil {
		return err
	}
	g.cleared, g.padding = header, 0
	g.step = g.chunk
	return nil
}

// xzDictionary reads the dictionary size out of a block header whose only
// filter must be LZMA2.
func xzDictionary(header []byte) (uint64, error) {
	flags, fields := header[1], header[2:len(header)-4]
	number := func() uint64 {
		v, n := binary.Uvarint(fields)
		if n <= 0 {
			fields = nil
			return 0
		}
		fields = fields[n:]
		return v
	}
	if flags&0x40 != 0 {
		number() // compressed size
	}
	if flags&0x80 != 0 {
		number() // uncompressed size
	}
	const lzma2 = 0x21
	if flags&3 != 0 || number() != lzma2 {
		return 0, RefusedError{"the xz file uses a filter that we don't read; compress it with the usual settings"}
	}
	if number() != 1 || len(fields) == 0 || fields[0] > 40 {
		return 0, errors.New("bad xz block header")
	}
	if bits := uint64(fields[0]); bits < 40 {
		return (2 | bits&1) << (bits/2 + 11), nil
	}
	return 1<<32 - 1, nil
}

// chunk passes one LZMA2 chunk: its first byte says of which kind it is, and
// its header how long.
func (g *xzGuard) chunk() error {
	control, err := g.peek(1)
	if err != nil {
		return err
	}
	var header, sizeAt int
	switch c := control[0]; {
	case c == 0:
		g.padding++
		g.step = g.blockEnd
		return g.clear(1)
	case c <= 2: // uncompressed
		header, sizeAt = 3, 1
	case c < 0x80:
		return errors.New("bad LZMA2 chunk")
	case c < 0xc0: // LZMA with the properties of the chunk before
		header, sizeAt = 5, 3
	default: // LZMA with new properties
		header, sizeAt = 6, 3
	}
	b, err := g.peek(header)
	if err != nil {
		return err
	}
	size := header + int(binary.BigEndian.Uint16(b[sizeAt:])) + 1
	g.padding += int64(size)
	return g.clear(size)
}

func (g *xzGuard) blockEnd() error {
	g.step = g.blockHeader
	if n := int(-g.padding&3) + g.check; n > 0 {
		return g.clear(n)
	}
	return nil
}

func (g *xzGuard) indexHeader() error {
	if err := g.clear(1); err != nil {
		return err
	}
	g.index = 1
	blocks, err := g.indexNumber()
	if err != nil {
		return err
	}
	if blocks != g.blocks {
		return errors.New("the xz index does not fit the blocks")
	}
	g.records = 2 * blocks
	g.step = g.indexRecords
	return nil
}

func (g *xzGuard) indexRecords() error {
	if g.records > 0 {
		g.records--
		_, err := g.indexNumber()
		return err
	}
	const sum, footer = 4, 12
	g.step = g.streamHeader
	return g.clear(int(-g.index&3) + sum + footer)
}

// indexNumber passes a number of variable length and adds it to what is cleared.
func (g *xzGuard) indexNumber() (uint64, error) {
	var raw [9]byte
	for i := range raw {
		b, err := g.br.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		raw[i] = b
		if b&0x80 == 0 {
			g.index += int64(i + 1)
			g.cleared = append(g.cleared, raw[:i+1]...)
			v, _ := binary.Uvarint(raw[:i+1])
			return v, nil
		}
	}
	return 0, errors.New("bad number in the xz index")
}

// unexpected is the error of a read in the middle of something.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
