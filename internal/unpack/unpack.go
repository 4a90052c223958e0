package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Format is how a file is compressed, in the word that people use.
type Format string

// The formats.
const (
	Plain     Format = "plain text"
	Gzip      Format = "gzip"
	Zstandard Format = "zstd"
	XZ        Format = "xz"
	Bzip2     Format = "bzip2"
	Zip       Format = "zip"
	LZMA      Format = "lzma"
)

// HeadBytes is how much of a file its format is recognised by.
const HeadBytes = 512

// MaxWindow bounds the memory that a compressed file may ask its decoder for:
// the window of zstd, the dictionary of xz and lzma. It is the most that xz -9
// and zstd --ultra -21 ask for.
const MaxWindow = 64 << 20

// UsualWindow is what the usual settings ask for at most: xz -6 and zstd -19.
const UsualWindow = 8 << 20

// FormatOf recognises the format by the first bytes of a file. The old lzma
// format has no magic number: it is taken for one only under its own name.
func FormatOf(head []byte, name string) Format {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case starts("\x1f\x8b"):
		return Gzip
	case starts("\x28\xb5\x2f\xfd"), len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18":
		return Zstandard
	case starts("\xfd7zXZ\x00"):
		return XZ
	case starts("BZh") && len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return Bzip2
	case starts("PK\x03\x04"), starts("PK\x05\x06"):
		return Zip
	case strings.HasSuffix(name, ".lzma") && len(head) >= lzma.HeaderLen && head[0] < 9*5*5 && isLZMADictionary(binary.LittleEndian.Uint32(head[1:])):
		return LZMA
	}
	return Plain
}

// isLZMADictionary says whether programs write such a size of a dictionary, unlike the
// letters of a text: one with whole bytes of zeros, or the most that there is.
func isLZMADictionary(size uint32) bool { return size%(1<<8) == 0 || size == math.MaxUint32 }

// RefusedError says in words for the submitter why a file can't be unpacked.
type RefusedError struct{ Message string }

// Error returns the message.
func (e RefusedError) Error() string { return e.Message }

// ErrBudget says that more came out than the [Budget] had left.
var ErrBudget = errors.New("more than the budget of decompressed bytes")

// Budget bounds what several files may unpack to together. It is used by one
// goroutine at a time.
type Budget struct{ Total, left int64 }

// NewBudget returns a budget of so many bytes.
func NewBudget(total int64) *Budget { return &Budget{Total: total, left: total} }

// Scratch is a temporary file. Close removes it.
type Scratch interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Options are the places and bounds of [Open].
type Options struct {
	// Scratch makes the file for the copy of a zip archive that comes as a stream; nil:
	// such archives can't be read. It is closed with the Reader.
	Scratch func() (Scratch, error)
	Budget  *Budget
	// Large, if set, is called before a decoder takes more than [UsualWindow], and
	// may wait until there is memory for [MaxWindow]. An error ends the reading.
	Large func(context.Context) error
}

// Reader gives the plain bytes of a file. Close it.
type Reader struct {
	decoded io.Reader
	format  Format
	input   *input
	budget  *Budget
	large   func(context.Context) error
	closers []func() error
}

// Open unpacks what is read from raw, which it closes. A raw that is an
// [io.ReaderAt] and [io.Seeker] is read in place if it is a zip archive, unless Seek
// says [errors.ErrUnsupported]. Name only decides whether it may be an lzma file.
// Errors of Open and Read are a [RefusedError], [ErrBudget] or those of raw, ctx, Large
// and Scratch.
func Open(ctx context.Context, name string, raw io.ReadCloser, o Options) (*Reader, error) {
	in := &input{ctx: ctx, r: raw}
	r := &Reader{input: in, budget: o.Budget, large: o.Large, closers: []func() error{raw.Close}}
	br := bufio.NewReaderSize(in, 64<<10)
	head, _ := br.Peek(HeadBytes) // its error comes again with the next read
	r.format = FormatOf(head, name)
	var err error
	if r.decoded, err = r.decoder(br, o.Scratch); err != nil {
		return nil, errors.Join(r.fault(err), r.Close())
	}
	return r, nil
}

// Close closes the file and removes what was copied.
func (r *Reader) Close() error {
	var errs []error
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	return errors.Join(errs...)
}

// Read gives the next plain bytes.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.decoded.Read(p)
	if r.budget.left -= int64(n); r.budget.left < 0 {
		return 0, ErrBudget
	}
	if err != nil && err != io.EOF {
		return n, r.fault(err)
	}
	return n, err
}

func (r *Reader) decoder(br *bufio.Reader, scratch func() (Scratch, error)) (io.Reader, error) {
	switch r.format {
	case Gzip:
		return gzip.NewReader(br)
	case Zstandard:
		d, err := zstd.NewReader(newZstdGuard(br, r.window), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
		if err == nil {
			r.closers = append(r.closers, func() error { d.Close(); return nil })
		}
		return d, err
	case XZ:
		return xz.NewReader(newXZGuard(br, r.window))
	case Bzip2:
		return bzip2.NewReader(br), nil
	case LZMA:
		head, _ := br.Peek(lzma.HeaderLen)
		if len(head) == lzma.HeaderLen { // else the decoder finds it cut off
			if err := r.window(uint64(binary.LittleEndian.Uint32(head[1:]))); err != nil {
				return nil, err
			}
		}
		d, err := lzma.ReaderConfig{DictCap: MaxWindow}.NewReader(br)
		return io.MultiReader(d, nothingAfter{br}), err
	case Zip:
		return r.zipMember(br, scratch)
	default:
		return br, nil
	}
}

// window judges what a decoder is about to take for a window or dictionary.
func (r *Reader) window(bytes uint64) error {
	switch {
	case bytes > MaxWindow:
		return RefusedError{windowMessage(r.format, bytes)}
	case bytes <= UsualWindow || r.large == nil:
		return nil
	}
	// Like a failure below the decoders, it is no damage of the file.
	r.input.err = r.large(r.input.ctx)
	return r.input.err
}

// nothingAfter is the empty end of a format that can't be concatenated.
type nothingAfter struct{ r io.ByteReader }

func (n nothingAfter) Read([]byte) (int, error) {
	if _, err := n.r.ReadByte(); err != nil {
		return 0, err
	}
	return 0, errors.New("data after the end")
}

// input remembers the first failure of the reader below the decoders, so that it is
// not taken for damage of the file, and ends a read when the request has ended. From
// then on it returns nothing else: the guards look ahead without looking at errors, and
// must not let anything through that they haven't seen.
type input struct {
	ctx context.Context //nolint:containedctx // lives as long as the reading
	r   io.Reader
	err error
}

// ended returns the failure, or the end of the request.
func (i *input) ended() error {
	if i.err == nil {
		i.err = i.ctx.Err()
	}
	return i.err
}

func (i *input) Read(p []byte) (int, error) {
	if err := i.ended(); err != nil {
		return 0, err
	}
	n, err := i.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// fault tells damage of the file from failures around it.
func (r *Reader) fault(err error) error {
	var refused RefusedError
	var dictionary *lzma.ErrDictSize
	switch {
	case r.input.err != nil:
		return r.input.err
	case errors.As(err, &refused), errors.Is(err, errCopy):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.As(err, &dictionary):
		return RefusedError{windowMessage(r.format, 0)}
	}
	return RefusedError{fmt.Sprintf("the %s data is damaged or cut off (%v); compress and upload the file again", r.format, err)}
}

// windowMessage says what is too large, how large if that is known (0: it isn't), and
// which settings aren't.
func windowMessage(f Format, bytes uint64) string {
	what, settings := "dictionary", "xz -6"
	if f == Zstandard {
		what, settings = "window", "zstd -19, without --long"
	}
	size := ""
	if bytes > 0 {
		size = fmt.Sprintf(" (%d MiB)", (bytes-1)>>20+1)
	}
	return fmt.Sprintf("the %s data asks for a %s%s that takes more than %d MiB of memory to unpack, which is the limit; compress the file again with the usual settings (%s) or with gzip",
		f, what, size, MaxWindow>>20, settings)
}
