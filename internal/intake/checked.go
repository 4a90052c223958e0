package intake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/seqlease/seqlease"
)

// Checked is an upload without faults. Its entries wait in a temporary file, of
// which 16 bytes for each sequence are kept in memory.
type Checked struct {
	spool     *frames
	rows      int
	bytes     int64 // about the size of all documents
	blocks    []blockFrame
	sequences []frame // in the order in which the rows name them
	// accessions are those that a revision's rows name, in their order.
	accessions idList
}

// Len returns the number of entries.
func (c *Checked) Len() int { return c.rows }

// Bytes returns about how many bytes the documents of all entries have together.
func (c *Checked) Bytes() int64 { return c.bytes }

// Accessions returns what the entries of a revision revise, in their order and each
// once; none for new entries.
func (c *Checked) Accessions() []seqlease.Accession {
	letters, start := string(c.accessions.letters), 0
	all := make([]seqlease.Accession, len(c.accessions.ends))
	for i, end := range c.accessions.ends {
		all[i] = seqlease.Accession(letters[start:end])
		start = end
	}
	return all
}

// How much memory a sequence, a block and an id beside its letters take.
const (
	frameMemory = 16
	blockMemory = 24
	endMemory   = 8
)

// Memory returns how many bytes of memory it takes.
func (c *Checked) Memory() int64 {
	return int64(cap(c.sequences))*frameMemory + int64(cap(c.blocks))*blockMemory +
		int64(cap(c.accessions.letters)) + int64(cap(c.accessions.ends))*endMemory
}

// Close removes the temporary file. No entry can be read after it.
func (c *Checked) Close() error { return c.spool.close() }

// errBlock says that the temporary file is not as it was written.
var errBlock = errors.New("spool: damaged block of rows")

// Entries yields the entries in the order of the metadata file, each with bytes
// of its own. It may be ranged over more than once, also concurrently. An error
// is the last thing that it yields.
func (c *Checked) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := entryReader{checked: c, rows: frameReader{frames: c.spool}, letters: frameReader{frames: c.spool}}
		for range c.rows {
			e, err := r.next()
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// entryReader reads the entries one after the other.
type entryReader struct {
	checked       *Checked
	rows, letters frameReader
	blocks        int // read so far
	sequences     int // read so far
	block         []byte
	size          int // of the last entry
}

func (r *entryReader) next() (Entry, error) {
	if len(r.block) == 0 {
		if r.blocks == len(r.checked.blocks) {
			return Entry{}, errBlock
		}
		block, err := r.rows.block(r.checked.blocks[r.blocks])
		if err != nil {
			return Entry{}, fmt.Errorf("read back an upload: %w", err)
		}
		r.block = block
		r.blocks++
	}
	id, metadata := r.sized(), r.sized()
	count, n := binary.Uvarint(r.block)
	if id == nil || metadata == nil || n <= 0 {
		return Entry{}, errBlock
	}
	r.block = r.block[n:]
	// Most entries are about as large as the one before.
	data := make([]byte, 0, min(r.size+r.size/8, largeBytes)+len(metadata))
	data = append(append(data, `{"metadata":`...), metadata...)
	data = append(data, `,"unalignedNucleotideSequences":{`...)
	for i := range count {
		fastaID := r.sized()
		if fastaID == nil || r.sequences == len(r.checked.sequences) {
			return Entry{}, errBlock
		}
		if i > 0 {
			data = append(data, ',')
		}
		data = append(appendJSON(data, fastaID), `:"`...)
		var err error
		if data, err = r.letters.sequence(data, r.checked.sequences[r.sequences]); err != nil {
			return Entry{}, fmt.Errorf("read back an upload: %w", err)
		}
		r.sequences++
		data = append(data, '"')
	}
	data = append(data, `},"files":null}`...)
	r.size = len(data)
	return Entry{SubmissionID: string(id), Data: data}, nil
}

// sized takes a value with its length before it off the block, nil if it is damaged.
func (r *entryReader) sized() []byte {
	size, n := binary.Uvarint(r.block)
	if n <= 0 || size > uint64(len(r.block)-n) {
		return nil
	}
	value := r.block[n:][:size:size]
	r.block = r.block[n+int(size):]
	return value
}
