package intake

import (
	"cmp"
	"fmt"

	"github.com/seqlease/seqlease"
)

// Limits bound what one upload may hold. Zero means the default.
type Limits struct {
	// UploadBytes bounds both files together after decompression; 5,000 MiB.
	UploadBytes int64
	// SequenceBytes bounds the letters of one sequence; 10 MiB.
	SequenceBytes int
	// EntryBytes bounds the JSON document of one entry, so that a line of a
	// claimed batch stays under its 32 MiB; 31 MiB.
	EntryBytes int
	// CellBytes and RowBytes bound the metadata; 1 MiB and 8 MiB.
	CellBytes, RowBytes int
	// Columns bounds the columns of the metadata; 1,000.
	Columns int
	// Rows bounds the metadata rows; 1,000,000. About 60 bytes are kept in memory
	// for each row and each sequence beside their ids.
	Rows int
	// Sequences bounds the records of the sequence file; 2,000,000.
	Sequences int
}

func (l Limits) orDefaults() Limits {
	return Limits{
		UploadBytes:   cmp.Or(l.UploadBytes, 5000<<20),
		SequenceBytes: cmp.Or(l.SequenceBytes, 10<<20),
		EntryBytes:    cmp.Or(l.EntryBytes, 31<<20),
		CellBytes:     cmp.Or(l.CellBytes, 1<<20),
		RowBytes:      cmp.Or(l.RowBytes, 8<<20),
		Columns:       cmp.Or(l.Columns, 1000),
		Rows:          cmp.Or(l.Rows, 1_000_000),
		Sequences:     cmp.Or(l.Sequences, 2_000_000),
	}
}

// maxIDLength is the longest submission id and FASTA id, in characters.
const maxIDLength = 255

// faultError is a fault after which its file can't be read on.
type faultError struct{ seqlease.Problem }

func (e faultError) Error() string { return e.String() }

// tooLarge wraps [seqlease.ErrTooLarge] with where it was found.
func tooLarge(p seqlease.Problem) error {
	return &seqlease.ExplainedError{Kind: seqlease.ErrTooLarge, Sentence: p.String(), Problem: &p}
}

// inBytes writes a limit for people.
func inBytes[T int | int64](n T) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
