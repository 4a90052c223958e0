package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/spool"
	"github.com/seqlease/seqlease/internal/unpack"
)

// File is one uploaded file as it came.
type File struct {
	Name string // as the client calls it; its ending counts
	// Open returns the bytes from the beginning; it may be called more than once.
	// What it returns is read as a zip archive in place if it is an io.ReaderAt
	// and io.Seeker.
	Open func() (io.ReadCloser, error)
}

// Request is one upload.
type Request struct {
	Organism *organism.Organism
	// Revision says that the metadata name in a column accession what each entry revises.
	Revision  bool
	Metadata  *File      // nil: absent
	Sequences *File      // nil: absent
	Spool     *spool.Dir // where the temporary file goes; nil: one for this upload alone
	Limits    Limits
	// Large, if set, is called once before more memory is taken than nearly every
	// upload needs, and may wait until there is some: for an entry or row of more
	// than 1 MiB, for more than 100,000 rows or sequences, and for files that were
	// compressed with a large window. Its error ends the check.
	Large func(context.Context) error
}

// The names of the two files in problems, and of their parts in the request.
const (
	metadataFile = "metadata file"
	sequenceFile = "sequence file"
	metadataPart = "metadataFile"
	sequencePart = "sequenceFile"
)

// Check reads an upload and returns its entries. The error is a
// [*seqlease.InvalidError] that lists what is wrong in both files in the order of the
// protocol, of which the first decides the kind, or wraps
// [seqlease.ErrTooLarge] and names the limit, or is the fault of a disk. Close
// what it returns. Memory is bounded: see [Limits.Rows]. May be called concurrently.
func Check(ctx context.Context, r Request) (checked *Checked, err error) {
	if err := checkMetadataPart(r.Metadata); err != nil {
		return nil, err
	}
	if r.Spool == nil {
		r.Spool = spool.NewDir("", 0)
	}
	s, err := newFrames(r.Spool, r.Organism)
	if err != nil {
		return nil, err
	}
	c := &checker{
		ctx: ctx, request: r, limits: r.Limits.orDefaults(), spool: s,
		rows: newIDSet(), accessions: newIDSet(), sequences: newIDSet(),
	}
	defer func() { // also after a panic
		if checked != nil {
			return
		}
		if closing := s.close(); closing != nil {
			err = errors.Join(err, closing)
		}
	}()
	return c.check()
}

// checkMetadataPart says that the part must be there and how its name must end.
func checkMetadataPart(metadata *File) error {
	if metadata == nil {
		return seqlease.InvalidParameter(metadataPart, "the part is missing; it holds the metadata as tab-separated text")
	}
	if message := nameFault(metadata.Name, metadataEndings); message != "" {
		return seqlease.InvalidParameter(metadataPart, message)
	}
	return nil
}

// sequencePartFault says whether the part must be there and how its name must end, or "".
func sequencePartFault(o *organism.Organism, sequences *File) string {
	switch {
	case o.ConsensusSequences && sequences == nil:
		return fmt.Sprintf("the part is missing; submissions of organism %q need sequences", o.Key)
	case sequences == nil:
		return ""
	case !o.ConsensusSequences:
		return fmt.Sprintf("submissions of organism %q have no sequences; leave the part out", o.Key)
	default:
		return nameFault(sequences.Name, sequenceEndings)
	}
}

// checker holds what is known of an upload while it is read.
type checker struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call of Check
	request Request
	limits  Limits
	spool   *frames
	invalid seqlease.InvalidError
	// attachments are the columns for them, of which none is taken.
	attachments seqlease.InvalidError
	joining     int  // how many of the problems show only when the files are joined
	asked       bool // for much memory

	rows       *idSet  // submission ids
	rowLines   []int32 // of the rows
	entryBytes []int   // of the rows: size of their JSON documents so far
	metadata   []byte  // of the last row
	block      []byte  // rows that are not in the spool yet
	blocks     []blockFrame

	accessions     *idSet  // that rows revise
	accessionLines []int32 // of their rows

	sequences *idSet           // FASTA ids: those that rows name, in their order, then those that none names
	found     []sequenceOfFile // of the sequences
	wanted    int              // how many FASTA ids the rows name
}

// sequenceOfFile is what is known of a FASTA id.
type sequenceOfFile struct {
	frame
	row  int32 // that names it; -1: none
	line int32 // of its header in the sequence file; 0: not there
}

// lineNumber keeps a line in four bytes; beyond two thousand million, which a
// file of blank lines can have, it says no more than that.
func lineNumber(line int) int32 { return int32(min(line, math.MaxInt32)) }

func (c *checker) check() (*Checked, error) {
	budget := unpack.NewBudget(c.limits.UploadBytes)
	if err := c.readFile(metadataFile, c.request.Metadata, budget, c.readMetadata); err != nil {
		return nil, err
	}
	metadataRead := len(c.invalid.Problems) == 0
	part := sequencePartFault(c.request.Organism, c.request.Sequences)
	if part != "" {
		c.request.Sequences = nil // whatever was sent is not looked at
	}
	if c.request.Sequences != nil {
		if err := c.readFile(sequenceFile, c.request.Sequences, budget, c.readSequences); err != nil {
			return nil, err
		}
	}
	// With rows that could not be read, every comparison would mislead.
	if metadataRead {
		c.join()
	}
	if err := c.fault(part); err != nil {
		return nil, err
	}
	if err := errors.Join(c.endBlock(), c.spool.flush()); err != nil {
		return nil, err
	}
	sequences := make([]frame, c.wanted)
	for i := range sequences {
		sequences[i] = c.found[i].frame
	}
	checked := &Checked{spool: c.spool, rows: c.rows.len(), blocks: c.blocks, sequences: sequences, accessions: c.accessions.list()}
	for _, size := range c.entryBytes {
		checked.bytes += int64(size)
	}
	return checked, nil
}

// fault returns what is wrong, or nil. What is wrong with the part of the sequences, if
// anything, is a fault of the request. It is told after what was read, but for what shows
// when the files are joined, which comes later. That attachments aren't taken at all is
// told last: the protocol looks at them when all else is fine.
func (c *checker) fault(part string) error {
	all := seqlease.InvalidError{Kind: seqlease.InvalidRequest}
	add := func(e *seqlease.InvalidError) {
		for _, p := range e.Problems {
			all.Add(p)
		}
		all.More += e.More
	}
	switch {
	case part == "" && c.problems() > 0:
		all.Kind = seqlease.InvalidContent
		add(&c.invalid)
	case part != "" && c.problems() > c.joining:
		all.Kind = seqlease.InvalidContent
		add(&c.invalid)
		all.Add(seqlease.Problem{Field: sequencePart, Message: part})
	case part != "":
		all.Add(seqlease.Problem{Field: sequencePart, Message: part})
		add(&c.invalid)
	}
	add(&c.attachments)
	return all.OrNil()
}

// largeBytes and largeCount are up to what no memory is asked for: the size of
// what is in memory at once, and the number of what a few bytes are kept of.
const (
	largeBytes = 1 << 20
	largeCount = 100_000
)

// large asks for much memory. Further calls do nothing.
func (c *checker) large(ctx context.Context) error {
	if c.asked || c.request.Large == nil {
		return nil
	}
	c.asked = true
	if err := c.request.Large(ctx); err != nil {
		return fmt.Errorf("wait for memory: %w", err)
	}
	return nil
}

// readFile opens a file and reads it; a fault that ends the file is one problem more.
func (c *checker) readFile(name string, f *File, budget *unpack.Budget, read func(*text) error) error {
	err := c.openFile(name, f, budget, read)
	var fault faultError
	var refused unpack.RefusedError
	switch {
	case errors.As(err, &fault):
		c.invalid.Add(fault.Problem)
		return nil
	case errors.As(err, &refused):
		c.invalid.Add(seqlease.Problem{File: name, Message: refused.Message})
		return nil
	case errors.Is(err, unpack.ErrBudget):
		return tooLarge(seqlease.Problem{File: name, Message: fmt.Sprintf(
			"the files of one upload may have %s together after decompression; split the submission", inBytes(budget.Total))})
	case err != nil && !errors.Is(err, seqlease.ErrTooLarge):
		return fmt.Errorf("read the %s: %w", name, err)
	}
	return err
}

// scratch is a temporary file that counts as spool space.
func (c *checker) scratch() (unpack.Scratch, error) { return c.request.Spool.CreateScratch() }

func (c *checker) openFile(name string, f *File, budget *unpack.Budget, read func(*text) error) (err error) {
	raw, err := f.Open()
	if err != nil {
		return err
	}
	r, err := unpack.Open(c.ctx, f.Name, raw, unpack.Options{Scratch: c.scratch, Budget: budget, Large: c.large})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	t, err := newText(name, r, func() error { return c.large(c.ctx) })
	if err != nil {
		return err
	}
	return read(t)
}
