package intake

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// errSpool marks faults of our own disk, which are nobody's upload's fault.
var errSpool = errors.New("spool")

// maxZipDirectory bounds how much of a zip archive is read to find its one
// member: some 10,000 members.
const maxZipDirectory = 1 << 20

// zipMember returns the content of the only file of a zip archive. Its name and
// path mean nothing. An archive is read from its end, so that a stream is
// copied to a temporary file first.
func (s *source) zipMember(r io.Reader, in *input, spoolDir string, limit int64) (io.Reader, error) {
	at, size, err := s.randomAccess(r, in.r, spoolDir, limit)
	if err != nil {
		return nil, err
	}
	directory := &boundedReaderAt{r: at, in: in, left: maxZipDirectory}
	archive, err := zip.NewReader(directory, size)
	if directory.left < 0 {
		return nil, refusedError{"the zip archive has too many members; it must hold the file alone"}
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
	s.closers = append(s.closers, content.Close)
	return content, nil
}

func onlyMember(archive *zip.Reader) (*zip.File, error) {
	var members []*zip.File
	for _, f := range archive.File {
		switch {
		case strings.HasPrefix(f.Name, "xl/"):
			return nil, refusedError{"this looks like an Excel file; save it as tab-separated text (UTF-8)"}
		case strings.HasPrefix(f.Name, "word/"), f.Name == "mimetype":
			return nil, refusedError{"this looks like an office document; save it as plain text (UTF-8), a table as tab-separated text"}
		case strings.HasSuffix(f.Name, "/"), strings.HasPrefix(f.Name, "__MACOSX/"), strings.HasSuffix(f.Name, ".DS_Store"):
			// folders, and what macOS adds without being asked
		default:
			members = append(members, f)
		}
	}
	if len(members) != 1 {
		return nil, refusedError{fmt.Sprintf("the zip archive must hold one file, but it has %d (%s)", len(members),
			few(len(members), func(i int) string { return quoted(members[i].Name) }))}
	}
	member := members[0]
	switch {
	case member.Flags&1 != 0:
		return nil, refusedError{fmt.Sprintf("the file %s in the zip archive is encrypted; upload it without a password", quoted(member.Name))}
	case member.Method != zip.Store && member.Method != zip.Deflate:
		return nil, refusedError{fmt.Sprintf("the file %s in the zip archive is compressed by method %d, which we don't read; use deflate or gzip",
			quoted(member.Name), member.Method)}
	}
	return member, nil
}

// randomAccess returns the file itself if it can be read from any place, else a
// temporary copy of it.
func (s *source) randomAccess(r io.Reader, raw io.Reader, spoolDir string, limit int64) (io.ReaderAt, int64, error) {
	if f, ok := raw.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if size, err := f.Seek(0, io.SeekEnd); err == nil {
			return f, size, nil
		}
	}
	f, err := os.CreateTemp(spoolDir, "seqlease-zip-*")
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errSpool, err)
	}
	s.closers = append(s.closers, func() error { return errors.Join(f.Close(), os.Remove(f.Name())) })
	to := &spoolWriter{f: f}
	size, err := io.Copy(to, io.LimitReader(r, limit+1))
	switch {
	case to.err != nil:
		return nil, 0, fmt.Errorf("%w: %w", errSpool, to.err)
	case err != nil:
		return nil, 0, err
	case size > limit:
		return nil, 0, refusedError{"the zip archive is larger than " + inBytes(limit)}
	}
	return f, size, nil
}

// spoolWriter remembers a write error, to tell it from a read error.
type spoolWriter struct {
	f   *os.File
	err error
}

func (w *spoolWriter) Write(p []byte) (int, error) {
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
	if b.in.err = b.in.ctx.Err(); b.in.err != nil {
		return 0, b.in.err
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
	if err != nil && err != io.EOF {
		b.in.err = err
	}
	return n, err
}
