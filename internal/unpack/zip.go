package unpack

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errCopy marks faults of the temporary file, which are no fault of the archive.
var errCopy = errors.New("copy a zip archive")

// maxZipDirectory bounds how much of a zip archive is read to find its one
// member: some 10,000 members.
const maxZipDirectory = 1 << 20

// zipMember returns the content of the only file of a zip archive. Its name and
// path mean nothing. An archive is read from its end, so that a stream is
// copied to a temporary file first.
func (r *Reader) zipMember(from io.Reader, scratch func() (Scratch, error)) (io.Reader, error) {
	at, size, err := r.randomAccess(from, scratch)
	if err != nil {
		return nil, err
	}
	directory := &boundedReaderAt{r: at, in: r.input, left: maxZipDirectory}
	archive, err := zip.NewReader(directory, size)
	if directory.left < 0 {
		return nil, RefusedError{"the zip archive has too many members; it must hold the file alone"}
	}
	if err != nil {
		return nil, err
	}
	directory.unbounded = true
	member, err := onlyMember(archive)
	if err != nil {
		return nil, err
	}
	content, err := member.Open()
	if err != nil {
		return nil, err
	}
	r.closers = append(r.closers, func() error { _ = content.Close(); return nil }) // its error repeats that of the last read
	return content, nil
}

func onlyMember(archive *zip.Reader) (*zip.File, error) {
	var members []*zip.File
	for _, f := range archive.File {
		switch {
		case strings.HasPrefix(f.Name, "xl/"):
			return nil, RefusedError{"this looks like an Excel file; save it as tab-separated text (UTF-8)"}
		case strings.HasPrefix(f.Name, "word/"), f.Name == "mimetype":
			return nil, RefusedError{"this looks like an office document; save it as plain text (UTF-8), a table as tab-separated text"}
		case strings.HasSuffix(f.Name, "/"), strings.HasPrefix(f.Name, "__MACOSX/"), strings.HasSuffix(f.Name, ".DS_Store"):
			// folders, and what macOS adds without being asked
		default:
			members = append(members, f)
		}
	}
	if len(members) == 0 {
		return nil, RefusedError{"the zip archive holds no file; it must hold one"}
	}
	if len(members) > 1 {
		return nil, RefusedError{fmt.Sprintf("the zip archive must hold one file, but it has %d (%s)", len(members),
			firstNames(members))}
	}
	member := members[0]
	switch {
	case member.Flags&1 != 0:
		return nil, RefusedError{fmt.Sprintf("the file %s in the zip archive is encrypted; upload it without a password", shown(member.Name))}
	case member.Method != zip.Store && member.Method != zip.Deflate:
		return nil, RefusedError{fmt.Sprintf("the file %s in the zip archive is compressed by method %d, which we don't read; use deflate or gzip",
			shown(member.Name), member.Method)}
	}
	return member, nil
}

// shown quotes the name of a member, cut to a length that can be read.
func shown(name string) string { return strconv.QuoteToGraphic(name[:min(len(name), 60)]) }

func firstNames(members []*zip.File) string {
	names := make([]string, 0, 4)
	for _, m := range members[:min(len(members), 3)] {
		names = append(names, shown(m.Name))
	}
	if len(members) > 3 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// randomAccess returns the file itself if it can be read from any place, else a
// temporary copy of it.
func (r *Reader) randomAccess(from io.Reader, scratch func() (Scratch, error)) (io.ReaderAt, int64, error) {
	if f, ok := r.input.r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		size, err := f.Seek(0, io.SeekEnd)
		if err == nil {
			return f, size, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			r.input.err = err // like a failed read, it is no damage of the archive
			return nil, 0, err
		}
	}
	if scratch == nil {
		return nil, 0, fmt.Errorf("%w: %w", errCopy, errors.ErrUnsupported)
	}
	f, err := scratch()
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errCopy, err)
	}
	r.closers = append(r.closers, f.Close)
	to := &copyWriter{f: f}
	size, err := io.Copy(to, io.LimitReader(from, r.budget.Total+1))
	switch {
	case to.err != nil:
		return nil, 0, fmt.Errorf("%w: %w", errCopy, to.err)
	case err != nil:
		return nil, 0, err
	case size > r.budget.Total:
		return nil, 0, RefusedError{fmt.Sprintf("the zip archive is larger than %d bytes, which is the limit", r.budget.Total)}
	}
	return f, size, nil
}

// copyWriter remembers a write error, to tell it from a read error.
type copyWriter struct {
	f   io.Writer
	err error
}

func (w *copyWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.err = err
	return n, err
}

// boundedReaderAt lets a number of bytes through until it is set unbounded. Its
// errors and the end of the request are noted where those of the stream are.
type boundedReaderAt struct {
	r         io.ReaderAt
	in        *input
	left      int64
	unbounded bool
}

func (b *boundedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if err := b.in.ended(); err != nil {
		return 0, err
	}
	if offset < 0 { // out of a crafted directory; a file would call it a fault of its own
		return 0, zip.ErrFormat
	}
	if !b.unbounded {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n, err := b.r.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		b.in.err = err
	}
	return n, err
}
