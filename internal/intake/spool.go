package intake

import (
	"bufio"
	"errors"
	"fmt"

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
}

// frame says where a compressed document lies in the spool; size 0 is none.
type frame struct {
	offset int64
	size   int32
}

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

func (s *frames) add(d seqcodec.Dictionary, document []byte) (frame, error) {
	compressed, err := s.codec.Encode(d, document)
	if err != nil {
		return frame{}, err
	}
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

// read returns the document of a frame; scratch is reused for its compressed form.
func (s *frames) read(d seqcodec.Dictionary, f frame, scratch *[]byte) ([]byte, error) {
	if cap(*scratch) < int(f.size) {
		*scratch = make([]byte, f.size)
	}
	compressed := (*scratch)[:f.size]
	if _, err := s.file.ReadAt(compressed, f.offset); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	return s.codec.Decode(d, compressed)
}

func (s *frames) close() error { return s.file.Close() }
