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

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/intake"
	"github.com/seqlease/seqlease/internal/spool"
)

// packedBuffer gathers small entries between them and the file.
const packedBuffer = 256 << 10

// packedEntries are the entries of an upload as they will be stored, in a
// temporary file: the transaction that stores them only copies bytes, and
// however large they are, memory holds a [bundle] of them. In the file each entry is
// its submission id, the number of its dictionary and its bytes.
type packedEntries struct {
	file *spool.Scratch
	rows int
}

// pack checks the files of an upload and packs its entries. Close them.
func (s *Submissions) pack(ctx context.Context, r SubmitRequest) (*packedEntries, error) {
	o, err := s.organisms.Get(r.Organism)
	if err != nil {
		return nil, err
	}
	checked, err := intake.Check(ctx, intake.Request{
		Organism: o, Metadata: r.Metadata, Sequences: r.Sequences, Spool: s.options.Spool, Large: r.Large,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = checked.Close() }() // its spool file holds nothing that is still needed
	file, err := s.options.Spool.CreateScratch()
	if err != nil {
		return nil, err
	}
	entries := &packedEntries{file: file}
	if err := s.packAll(ctx, r.Organism, checked.Entries(), entries); err != nil {
		entries.close()
		return nil, err
	}
	return entries, nil
}

// packAll packs the entries bundle by bundle and writes them in their order.
func (s *Submissions) packAll(ctx context.Context, o seqlease.Organism, checked iter.Seq2[intake.Entry, error], to *packedEntries) error {
	out := bufio.NewWriterSize(to.file, packedBuffer)
	var b bundle
	for entry, err := range checked {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if !b.add(entry) {
			continue
		}
		if err := s.packBundle(o, &b, out); err != nil {
			return err
		}
	}
	if err := s.packBundle(o, &b, out); err != nil {
		return err
	}
	to.rows = b.done
	if err := out.Flush(); err != nil {
		return fmt.Errorf("keep an upload: %w", err)
	}
	return nil
}

// bundle is a few entries that are packed at once, on all cores. It has as many
// bytes as one entry may have, and bundleBytes.
type bundle struct {
	entries []intake.Entry
	packed  []seqlease.Packed
	bytes   int
	done    int // entries of the bundles before
}

// How much a bundle takes: enough that each core has a while to do.
const (
	bundleEntries = 256
	bundleBytes   = 512 << 10
)

// add takes an entry and says whether the bundle is full.
func (b *bundle) add(e intake.Entry) bool {
	b.entries = append(b.entries, e)
	b.bytes += len(e.Data)
	return len(b.entries) == bundleEntries || b.bytes >= bundleBytes
}

// packBundle packs the entries of a bundle, writes them and empties it.
func (s *Submissions) packBundle(o seqlease.Organism, b *bundle, out *bufio.Writer) error {
	b.packed = append(b.packed[:0], make([]seqlease.Packed, len(b.entries))...)
	faults := make([]error, len(b.entries))
	var packers sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), len(b.entries))
	for first := range n {
		packers.Go(func() {
			for i := first; i < len(b.entries); i += n {
				b.packed[i], faults[i] = s.store.Pack(o, b.entries[i].Data)
			}
		})
	}
	packers.Wait()
	var head []byte
	for i, packed := range b.packed {
		id := b.entries[i].SubmissionID
		if faults[i] != nil {
			return fmt.Errorf("entry %q: %w", id, faults[i])
		}
		head = append(binary.AppendUvarint(head[:0], uint64(len(id))), id...)
		head = binary.AppendVarint(head, packed.Dictionary)
		head = binary.AppendUvarint(head, uint64(len(packed.Bytes)))
		for _, part := range [][]byte{head, packed.Bytes} {
			if _, err := out.Write(part); err != nil {
				return fmt.Errorf("keep an upload: %w", err)
			}
		}
	}
	b.done += len(b.entries)
	clear(b.entries)
	clear(b.packed)
	b.entries, b.bytes = b.entries[:0], 0
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

// close removes the file.
func (e *packedEntries) close() { _ = e.file.Close() } // it holds nothing that is still needed
