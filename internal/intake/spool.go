package intake

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/seqcodec"
	"github.com/seqlease/seqlease/internal/spool"
)

// errSpool marks faults of our own disk, which are nobody's upload's fault.
var errSpool = errors.New("spool")

// frames is a temporary file of compressed frames. Frames are added one after
// the other, then read in any order, also concurrently.
type frames struct {
	file    *spool.Scratch
	out     *bufio.Writer
	size    int64
	codec   *seqcodec.Codec
	genomes seqcodec.Dictionary // for sequences
	packed  []byte              // the last short sequence or block
}

// frame says where a compressed document lies in the spool; size 0 is none.
type frame struct {
	offset int64
	size   int32
}

// blockFrame says where a block of rows lies in the spool and what it is: its format
// has no checksum, and says of itself how much memory it takes.
type blockFrame struct {
	frame
	raw int32  // size of the block
	sum uint32 // of the block
}

// castagnoli is the polynomial for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newFrames(dir *spool.Dir, o *organism.Organism) (*frames, error) {
	f, err := dir.CreateScratch()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	s := &frames{file: f, out: bufio.NewWriterSize(f, 256<<10), codec: seqcodec.New()}
	if dictionary := o.Dictionary(); len(dictionary) > 0 {
		s.genomes = seqcodec.Dictionary{ID: 1, Bytes: dictionary}
	}
	return s, nil
}

// addBlock adds a block of rows, in a format that takes next to no time.
func (s *frames) addBlock(block []byte) (blockFrame, error) {
	s.packed = slices.Grow(s.packed[:0], s2.MaxEncodedLen(len(block)))
	f, err := s.add(s2.Encode(s.packed[:cap(s.packed)], block))
	return blockFrame{frame: f, raw: int32(len(block)), sum: crc32.Checksum(block, castagnoli)}, err
}

// addSequence adds the letters of a sequence.
func (s *frames) addSequence(letters []byte) (frame, error) {
	if len(letters) <= maxShort {
		s.packed = packLetters(s.packed[:0], letters)
		return s.add(s.packed)
	}
	compressed, err := s.codec.Encode(s.genomes, letters)
	if err != nil {
		return frame{}, err
	}
	s.packed = append(append(s.packed[:0], withZstd), compressed...)
	return s.add(s.packed)
}

func (s *frames) add(compressed []byte) (frame, error) {
	if _, err := s.out.Write(compressed); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errSpool, err)
	}
	f := frame{offset: s.size, size: int32(len(compressed))}
	s.size += int64(len(compressed))
	return f, nil
}

func (s *frames) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errSpool, err)
	}
	return nil
}

func (s *frames) close() error { return s.file.Close() }

// readAhead is how much is read at once of frames that are read in their order.
const readAhead = 64 << 10

// frameReader reads frames. It is for one goroutine.
type frameReader struct {
	frames *frames
	ahead  []byte // of the file, from start on
	start  int64
	end    int64 // of the frame that was read last
}

// bytes returns a frame as it lies there, valid until the next call.
func (r *frameReader) bytes(f frame) ([]byte, error) {
	at := f.offset - r.start
	if at < 0 || at+int64(f.size) > int64(len(r.ahead)) {
		size := int64(f.size)
		if f.offset == r.end {
			size = max(size, min(readAhead, r.frames.size-f.offset))
		}
		if int64(cap(r.ahead)) < size {
			r.ahead = make([]byte, size)
		}
		r.ahead, r.start, at = r.ahead[:size], f.offset, 0
		if _, err := r.frames.file.ReadAt(r.ahead, f.offset); err != nil {
			r.ahead = r.ahead[:0]
			return nil, fmt.Errorf("%w: %w", errSpool, err)
		}
	}
	r.end = f.offset + int64(f.size)
	return r.ahead[at:][:f.size], nil
}

// block returns a block of rows.
func (r *frameReader) block(f blockFrame) ([]byte, error) {
	compressed, err := r.bytes(f.frame)
	if err != nil {
		return nil, err
	}
	if size, err := s2.DecodedLen(compressed); err != nil || size != int(f.raw) {
		return nil, errBlock // before memory is taken for it
	}
	block, err := s2.Decode(nil, compressed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	if crc32.Checksum(block, castagnoli) != f.sum {
		return nil, errBlock
	}
	return block, nil
}

// sequence appends the letters of a sequence.
func (r *frameReader) sequence(dst []byte, f frame) ([]byte, error) {
	packed, err := r.bytes(f)
	if err != nil {
		return nil, err
	}
	if len(packed) > 0 && packed[0] == withZstd {
		letters, err := r.frames.codec.Decode(r.frames.genomes, packed[1:])
		return append(dst, letters...), err
	}
	return unpackLetters(dst, packed)
}
