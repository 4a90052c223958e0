package seqcodec

import (
	"bytes"
	"container/list"
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// MaxDocument is the largest document in bytes that [Codec.Decode] returns: an
// NDJSON line of 32 MiB with room for what storage adds.
const MaxDocument = 64 << 20

// Dictionary is what documents are compressed against. The same ID must always
// come with the same Bytes; nil Bytes mean no dictionary.
type Dictionary struct {
	ID    int64
	Bytes []byte
}

// maxDictionaries bounds how many dictionaries have encoders and decoders ready;
// each pair takes about 3 MiB and a dictionary has up to one pair for each core, and
// one index for small documents of 4 to 8 bytes for each of the dictionary's.
const maxDictionaries = 16

// Codec compresses and decompresses. The zero value is not usable; call [New].
// It may be used concurrently;
// callers beyond the cores wait for each other.
type Codec struct {
	mu     sync.Mutex
	recent *list.List // of *coders, most recently used first
	byID   map[int64]*list.Element
	small  sync.Pool // of *small
}

// coders are the encoders and decoders of one dictionary, one pair for each core:
// they are expensive to make and cheap to use again. Those that weren't needed yet
// are nil. Callers beyond the cores wait.
type coders struct {
	id       int64
	encoders chan *encoder
	decoders chan *zstd.Decoder
	dict     Dictionary
	index    func() *index // for small documents
}

// encoder has a buffer for what it writes: a frame is a hundredth of its document
// and kept for a while, the room that it is written to is as large as the document.
type encoder struct {
	*zstd.Encoder
	buffer []byte
}

// maxKept is how large such a buffer may be to be used again: the documents of
// most viruses are smaller.
const maxKept = 1 << 20

// New returns a codec.
func New() *Codec {
	return &Codec{recent: list.New(), byID: map[int64]*list.Element{}, small: sync.Pool{New: func() any { return new(small) }}}
}

// Encode returns the document as one zstd frame with a checksum. The same
// document and dictionary give the same bytes.
func (c *Codec) Encode(d Dictionary, document []byte) ([]byte, error) {
	k := c.coders(d)
	if n := len(document); 0 < n && n <= maxSmall && len(d.Bytes) > 0 {
		if frame, err := c.encodeSmall(k, document); frame != nil || err != nil {
			return frame, err
		}
	}
	e := <-k.encoders
	defer func() { k.encoders <- e }()
	if e == nil {
		// The window spans the dictionary and a document of the same size: with the
		// library's default window a pair takes three times the memory.
		options := []zstd.EOption{
			zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(windowSize(len(d.Bytes))),
		}
		if len(d.Bytes) > 0 {
			options = append(options, zstd.WithEncoderDictRaw(0, d.Bytes))
		}
		made, err := zstd.NewWriter(nil, options...)
		if err != nil {
			return nil, fmt.Errorf("zstd encoder for dictionary %d: %w", d.ID, err)
		}
		e = &encoder{Encoder: made}
	}
	if len(e.buffer) < len(document) {
		e.buffer = make([]byte, len(document))
	}
	frame := e.EncodeAll(document, e.buffer[:0])
	if len(e.buffer) > maxKept {
		e.buffer = nil
	}
	return bytes.Clone(frame), nil
}

// encodeSmall is Encode of a small document. It returns only what the library reads
// back as the same document, else nil: no document may depend on an encoder of ours.
func (c *Codec) encodeSmall(k *coders, document []byte) ([]byte, error) {
	s := c.small.Get().(*small)
	defer c.small.Put(s)
	var err error
	if s.frame, err = s.encode(s.frame[:0], k.index(), document); err != nil {
		return nil, err
	}
	decoder, err := k.takeDecoder()
	defer func() { k.decoders <- decoder }()
	if err != nil {
		return nil, err
	}
	if s.again, err = decoder.DecodeAll(s.frame, s.again[:0]); err != nil || !bytes.Equal(s.again, document) {
		return nil, nil //nolint:nilnil // the library's encoder does it
	}
	return bytes.Clone(s.frame), nil
}

// Decode returns the document of a frame that [Codec.Encode] made with the same
// dictionary. A wrong dictionary, damaged bytes and a document over
// [MaxDocument] are errors.
func (c *Codec) Decode(d Dictionary, frame []byte) ([]byte, error) {
	k := c.coders(d)
	decoder, err := k.takeDecoder()
	defer func() { k.decoders <- decoder }()
	if err != nil {
		return nil, err
	}
	out, err := decoder.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress with dictionary %d: %w", d.ID, err)
	}
	return out, nil
}

// takeDecoder takes a decoder, which goes back to k.decoders also if it is nil.
func (k *coders) takeDecoder() (*zstd.Decoder, error) {
	if decoder := <-k.decoders; decoder != nil {
		return decoder, nil
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxDocument)}
	if len(k.dict.Bytes) > 0 {
		options = append(options, zstd.WithDecoderDictRaw(0, k.dict.Bytes))
	}
	decoder, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("zstd decoder for dictionary %d: %w", k.id, err)
	}
	return decoder, nil
}

// coders returns those of the dictionary and drops the least recently used ones.
func (c *Codec) coders(d Dictionary) *coders {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[d.ID]; ok {
		c.recent.MoveToFront(e)
		return e.Value.(*coders)
	}
	cores := runtime.GOMAXPROCS(0)
	k := &coders{id: d.ID, dict: d, encoders: make(chan *encoder, cores), decoders: make(chan *zstd.Decoder, cores)}
	k.index = sync.OnceValue(func() *index { return newIndex(d.Bytes) })
	for range cores {
		k.encoders <- nil
		k.decoders <- nil
	}
	c.byID[d.ID] = c.recent.PushFront(k)
	if c.recent.Len() > maxDictionaries {
		oldest := c.recent.Back()
		c.recent.Remove(oldest)
		delete(c.byID, oldest.Value.(*coders).id)
	}
	return k
}

// windowSize is the next power of two from twice the dictionary, within what
// every zstd decoder accepts (1 KiB to 8 MiB).
func windowSize(dictionary int) int {
	size := 1 << bits.Len(uint(max(2*dictionary, 1<<16)-1))
	return min(size, 8<<20)
}
