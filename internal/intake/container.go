package intake

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/seqlease/seqlease"
)

// codec is how a file is compressed.
type codec string

const (
	plain     codec = "plain text"
	gzipped   codec = "gzip"
	zstandard codec = "zstd"
	xzFile    codec = "xz"
	bzipped   codec = "bzip2"
	zipped    codec = "zip"
	lzmaFile  codec = "lzma"
)

// The name endings of the two parts; each may be followed by a compression suffix.
var (
	metadataEndings    = []string{"tsv"}
	sequenceEndings    = []string{"fa", "fasta", "seq", "fna", "fas"}
	compressedSuffixes = []string{".zst", ".xz", ".gz", ".zip", ".bz2", ".lzma"}
)

// codecOf recognises the codec by content. The old lzma format has no magic
// number: it is taken for one only under its own name.
func codecOf(head []byte, name string) codec {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case starts("\x1f\x8b"):
		return gzipped
	case starts("\x28\xb5\x2f\xfd"), len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18":
		return zstandard
	case starts("\xfd7zXZ\x00"):
		return xzFile
	case starts("BZh") && len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return bzipped
	case starts("PK\x03\x04"), starts("PK\x05\x06"):
		return zipped
	case strings.HasSuffix(name, ".lzma") && len(head) >= lzma.HeaderLen && head[0] < 9*5*5 && head[1] == 0:
		return lzmaFile
	}
	return plain
}

// checkName applies the rule of name endings, which are compared case-sensitively.
func checkName(part, name string, endings []string) error {
	base := name
	for _, suffix := range compressedSuffixes {
		if s, found := strings.CutSuffix(name, suffix); found {
			base = s
			break
		}
	}
	for _, ending := range endings {
		if strings.HasSuffix(base, ending) {
			return nil
		}
	}
	hint := ""
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".xlsx"), strings.HasSuffix(lower, ".xls"), strings.HasSuffix(lower, ".ods"):
		hint = "this looks like an Excel or other spreadsheet file: save it as tab-separated text (UTF-8). "
	case strings.HasSuffix(lower, ".csv"):
		hint = "a comma-separated file can't be read: save it as tab-separated text (UTF-8). "
	}
	return seqlease.InvalidParameter(part, fmt.Sprintf("%sthe file name %s must end in %s (in lower case), alone or followed by %s",
		hint, quoted(name), strings.Join(endings, ", "), strings.Join(compressedSuffixes, ", ")))
}

// source is one opened file of an upload. Close it.
type source struct {
	*text
	closers []func() error
}

func (s *source) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// openSource opens a file, decompresses it by what its content is, and bounds
// what comes out by what is left of the budget that both files share.
func openSource(ctx context.Context, file string, f *File, spoolDir string, budget *budget) (*source, error) {
	raw, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", file, err)
	}
	s := &source{closers: []func() error{raw.Close}}
	in := &input{ctx: ctx, r: raw}
	br := bufio.NewReaderSize(in, 64<<10)
	head, _ := br.Peek(headBytes) // its error comes again with the next read
	kind := codecOf(head, f.Name)
	decoded, err := s.decoder(kind, br, in, spoolDir, budget.total)
	if err == nil {
		d := &decoding{r: decoded, file: file, kind: kind, input: in, budget: budget}
		if s.text, err = newText(file, d); err == nil {
			return s, nil
		}
	} else {
		err = decodeFault(file, kind, in, err)
	}
	return nil, errors.Join(err, s.Close())
}

func (s *source) decoder(kind codec, br *bufio.Reader, in *input, spoolDir string, limit int64) (io.Reader, error) {
	switch kind {
	case gzipped:
		return gzip.NewReader(br)
	case zstandard:
		d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			s.closers = append(s.closers, func() error { d.Close(); return nil })
		}
		return d, err
	case xzFile:
		return xz.NewReader(newXZGuard(br, maxWindow))
	case bzipped:
		return bzip2.NewReader(br), nil
	case lzmaFile:
		d, err := lzma.ReaderConfig{DictCap: maxWindow}.NewReader(br)
		return io.MultiReader(d, nothingAfter{br}), err
	case zipped:
		return s.zipMember(br, in, spoolDir, limit)
	default:
		return br, nil
	}
}

// nothingAfter is the empty end of a format that can't be concatenated.
type nothingAfter struct{ r io.ByteReader }

func (n nothingAfter) Read([]byte) (int, error) {
	if _, err := n.r.ReadByte(); err != nil {
		return 0, err
	}
	return 0, errors.New("data after the end")
}

// input remembers a failure of the reader below the decoders, so that it is not
// taken for damage of the file, and ends a read when the request has ended.
type input struct {
	ctx context.Context //nolint:containedctx // lives as long as one call of Check
	r   io.Reader
	err error
}

func (i *input) Read(p []byte) (int, error) {
	if i.err = i.ctx.Err(); i.err != nil {
		return 0, i.err
	}
	n, err := i.r.Read(p)
	if err != nil && err != io.EOF {
		i.err = err
	}
	return n, err
}

// budget is what both files of an upload may unpack to.
type budget struct{ total, left int64 }

// decoding counts what a decoder gives and explains its errors.
type decoding struct {
	r      io.Reader
	file   string
	kind   codec
	input  *input
	budget *budget
}

func (d *decoding) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if d.budget.left -= int64(n); d.budget.left < 0 {
		return 0, tooLarge(seqlease.Problem{File: d.file, Message: fmt.Sprintf(
			"the files of one upload may have %s together after decompression; split the submission", inBytes(d.budget.total))})
	}
	if err != nil && err != io.EOF {
		return n, decodeFault(d.file, d.kind, d.input, err)
	}
	return n, err
}

// refusedError is a container that is whole, but that we don't read.
type refusedError struct{ message string }

func (e refusedError) Error() string { return e.message }

// decodeFault makes a problem of what a decoder answers.
func decodeFault(file string, kind codec, in *input, err error) error {
	var refused refusedError
	var dictionary *lzma.ErrDictSize
	switch {
	case in.err != nil:
		return fmt.Errorf("read the %s: %w", file, in.err)
	case errors.As(err, &refused):
		return faultError{seqlease.Problem{File: file, Message: refused.message}}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.As(err, &dictionary):
		return faultError{seqlease.Problem{File: file, Message: windowMessage(kind)}}
	case errors.Is(err, errSpool):
		return err
	}
	return faultError{seqlease.Problem{File: file, Message: fmt.Sprintf(
		"the %s data is damaged or cut off (%v); compress and upload the file again", kind, err)}}
}

func windowMessage(kind codec) string {
	return fmt.Sprintf("the %s data needs more than %s of memory to unpack, which is the limit; compress the file with the usual settings",
		kind, inBytes(maxWindow))
}
