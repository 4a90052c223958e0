package submission

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/spool"
)

// packedBuffer gathers small entries between them and the file.
const packedBuffer = 256 << 10

// packWhileStoring is up to what size of a document on average the entries of an
// upload are packed while they are stored, since packing them takes less time than
// that. Larger ones are packed before the transaction, which would last longer.
const packWhileStoring = 4 << 10

// packing are the entries of an upload on their way into the store.
type packing struct {
	organism seqlease.Organism
	store    Store
	checked  *intake.Checked
	packed   *packedEntries // nil: packed when they are read
}

// pack packs the entries of a checked upload, which it closes. Close them.
func (s *Submissions) pack(ctx context.Context, o seqlease.Organism, checked *intake.Checked) (*packing, error) {
	p := &packing{organism: o, store: s.store, checked: checked}
	if checked.Bytes() <= packWhileStoring*int64(checked.Len()) {
		return p, nil
	}
	defer func() { _ = checked.Close() }() // its spool file holds nothing that is still needed
	file, err := s.options.Spool.CreateScratch()
	if err != nil {
		return nil, err
	}
	p.packed = &packedEntries{file: file}
	if err := p.packAll(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// all yields the entries in their order, as [Upload] says.
func (p *packing) all() iter.Seq2[PackedEntry, error] {
	if p.packed != nil {
		return p.packed.all()
	}
	return p.packAhead
}

// What is packed before it is asked for: so many bundles, and no further one while they
// have bytesAhead. Entries are small on average, but one may be very large.
const (
	bundlesAhead = 8
	bytesAhead   = 4 << 20
)

// packAhead yields the entries and packs the next ones meanwhile, on one core: what
// stores them takes at least another one.
func (p *packing) packAhead(yield func(PackedEntry, error) bool) {
	a := &ahead{bundles: make(chan *bundle, bundlesAhead), taken: make(chan struct{}, 1), enough: make(chan struct{})}
	var failed error
	var packer sync.WaitGroup
	packer.Go(func() {
		defer close(a.bundles)
		failed = Caught(func() error { return p.fill(a) })
	})
	defer packer.Wait()
	defer close(a.enough)
	for b := range a.bundles {
		for i, packed := range b.packed {
			if !yield(PackedEntry{SubmissionID: b.entries[i].SubmissionID, Data: packed}, nil) {
				return
			}
		}
		a.take(b)
	}
	if failed != nil {
		yield(PackedEntry{}, failed)
	}
}

// ahead are bundles between who packs them and who asks for them.
type ahead struct {
	bundles chan *bundle
	bytes   atomic.Int64  // of those that weren't taken to the end
	taken   chan struct{} // holds something after that has changed
	enough  chan struct{} // closed when nobody asks any more
}

// fill packs bundles until nobody asks for more.
func (p *packing) fill(a *ahead) error {
	for b, err := range bundles(p.checked.Entries()) {
		if err == nil {
			err = b.pack(p.store, p.organism, 1)
		}
		if err != nil {
			return err
		}
		if !a.add(b) {
			return nil
		}
	}
	return nil
}

// add waits for room behind the bundle, and says whether anybody asks for more.
func (a *ahead) add(b *bundle) bool {
	a.bytes.Add(b.packedBytes())
	select {
	case a.bundles <- b:
	case <-a.enough:
		return false
	}
	for a.bytes.Load() >= bytesAhead {
		select {
		case <-a.taken:
		case <-a.enough:
			return false
		}
	}
	return true
}

// take says that a bundle was taken to its end.
func (a *ahead) take(b *bundle) {
	a.bytes.Add(-b.packedBytes())
	select {
	case a.taken <- struct{}{}:
	default: // said already
	}
}

// close removes the temporary files.
func (p *packing) close() {
	_ = p.checked.Close() // it holds nothing that is still needed
	if p.packed != nil {
		_ = p.packed.file.Close() // neither does this
	}
}

// packedEntries are entries as they will be stored, in a temporary file: the
// transaction that stores them only copies bytes, and however large they are, memory
// holds a [bundle] of them. In the file each entry is its submission id, the number of
// its dictionary and its bytes.
type packedEntries struct {
	file *spool.Scratch
	rows int
}

// packAll packs the entries bundle by bundle and writes them in their order.
func (p *packing) packAll(ctx context.Context) error {
	out := bufio.NewWriterSize(p.packed.file, packedBuffer)
	for b, err := range bundles(p.checked.Entries()) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.pack(p.store, p.organism, runtime.GOMAXPROCS(0))
		}
		if err == nil {
			err = b.write(out)
		}
		if err != nil {
			return err
		}
		p.packed.rows += len(b.entries)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("keep an upload: %w", err)
	}
	return nil
}

// bundle is a few entries that are packed at once. It has as many bytes as one entry
// may have, and bundleBytes.
type bundle struct {
	entries []intake.Entry
	packed  []seqlease.Packed
	bytes   int // of the documents
}

func (b *bundle) packedBytes() int64 {
	n := 0
	for _, packed := range b.packed {
		n += len(packed.Bytes)
	}
	return int64(n)
}

// How much a bundle takes: enough that each core has a while to do.
const (
	bundleEntries = 256
	bundleBytes   = 512 << 10
)

// bundles gathers entries.
func bundles(entries iter.Seq2[intake.Entry, error]) iter.Seq2[*bundle, error] {
	return func(yield func(*bundle, error) bool) {
		b := &bundle{}
		for e, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			b.entries = append(b.entries, e)
			b.bytes += len(e.Data)
			if len(b.entries) < bundleEntries && b.bytes < bundleBytes {
				continue
			}
			if !yield(b, nil) {
				return
			}
			b = &bundle{entries: make([]intake.Entry, 0, len(b.entries))}
		}
		if len(b.entries) > 0 {
			yield(b, nil)
		}
	}
}

// pack packs the entries on so many cores. Their documents are let go.
func (b *bundle) pack(store Store, o seqlease.Organism, cores int) error {
	b.packed = make([]seqlease.Packed, len(b.entries))
	faults := make([]error, len(b.entries))
	var packers sync.WaitGroup
	n := min(cores, len(b.entries))
	for first := range n {
		packers.Go(func() {
			for i := first; i < len(b.entries); i += n {
				faults[i] = Caught(func() (err error) {
					b.packed[i], err = store.Pack(o, b.entries[i].Data)
					return err
				})
				b.entries[i].Data = nil
			}
		})
	}
	packers.Wait()
	for i, err := range faults {
		if err != nil {
			return fmt.Errorf("entry %q: %w", b.entries[i].SubmissionID, err)
		}
	}
	return nil
}

// write appends the packed entries to the file.
func (b *bundle) write(out *bufio.Writer) error {
	var head []byte
	for i, packed := range b.packed {
		id := b.entries[i].SubmissionID
		head = append(binary.AppendUvarint(head[:0], uint64(len(id))), id...)
		head = binary.AppendVarint(head, packed.Dictionary)
		head = binary.AppendUvarint(head, uint64(len(packed.Bytes)))
		for _, part := range [][]byte{head, packed.Bytes} {
			if _, err := out.Write(part); err != nil {
				return fmt.Errorf("keep an upload: %w", err)
			}
		}
	}
	return nil
}

// all yields the entries in their order, as [Upload] says.
func (e *packedEntries) all() iter.Seq2[PackedEntry, error] {
	return func(yield func(PackedEntry, error) bool) {
		in := bufio.NewReaderSize(e.file.Open(), packedBuffer)
		for range e.rows {
			entry, err := readPacked(in, e.file.Size())
			if err != nil {
				err = fmt.Errorf("read back an upload: %w", err)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// errPackedSize says that the file is not as it was written.
var errPackedSize = errors.New("spool: damaged entry")

// readPacked reads the next entry of a file of that size.
func readPacked(in *bufio.Reader, file int64) (PackedEntry, error) {
	id, err := readSized(in, file)
	if err != nil {
		return PackedEntry{}, err
	}
	dictionary, err := binary.ReadVarint(in)
	if err != nil {
		return PackedEntry{}, err
	}
	data, err := readSized(in, file)
	return PackedEntry{SubmissionID: string(id), Data: seqlease.Packed{Dictionary: dictionary, Bytes: data}}, err
}

func readSized(in *bufio.Reader, file int64) ([]byte, error) {
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if size > uint64(file) {
		return nil, errPackedSize
	}
	value := make([]byte, size)
	_, err = io.ReadFull(in, value)
	return value, err
}
