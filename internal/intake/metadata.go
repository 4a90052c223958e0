package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seqlease/seqlease"
)

// readMetadata reads all rows into the spool and their ids into memory.
func (c *checker) readMetadata(t *text) error {
	rows := &table{text: t, limits: c.limits}
	first, err := rows.next()
	if errors.Is(err, io.EOF) {
		return faultError{seqlease.Problem{File: metadataFile, Message: "the file is empty"}}
	}
	if err != nil {
		return err
	}
	header, ok := c.header(first)
	if !ok {
		return nil
	}
	var empty []int // lines of rows without a value, which are ignored at the end of the file only
	for {
		r, err := rows.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if isEmpty(r) {
			if len(empty) <= seqlease.MaxListedProblems {
				empty = append(empty, r.line)
			}
			continue
		}
		for _, line := range empty {
			c.invalid.Add(seqlease.Problem{File: metadataFile, Line: line, Message: "the row has no values; remove it"})
		}
		empty = empty[:0]
		if c.rows.len() >= c.limits.Rows {
			return tooLarge(seqlease.Problem{
				File: metadataFile, Line: r.line,
				Message: fmt.Sprintf("one upload may have %d rows; split the submission", c.limits.Rows),
			})
		}
		if c.rows.len() == largeCount || c.sequences.len() > largeCount {
			if err := c.large(c.ctx); err != nil {
				return err
			}
		}
		if err := c.row(header, r); err != nil {
			return err
		}
	}
}

func isEmpty(r row) bool {
	for _, cell := range r.cells {
		if len(cell) > 0 {
			return false
		}
	}
	return true
}

// row checks a row and puts it into the spool, unless the upload is invalid.
func (c *checker) row(h columns, r row) error {
	before := c.problems()
	id := ""
	if h.id < len(r.cells) {
		id = string(r.cells[h.id])
	}
	fault := func(field, value, format string, args ...any) {
		c.invalid.Add(seqlease.Problem{
			File: metadataFile, Line: r.line, Record: short(id), Field: short(field), Value: short(value), Message: fmt.Sprintf(format, args...),
		})
	}
	c.cells(h, r, fault)
	if len(r.cells) < len(h.names) {
		return nil // its cells may stand in the wrong columns
	}
	for _, i := range h.attachments {
		if len(r.cells[i]) > 0 {
			c.attachments.Add(seqlease.Problem{
				File: metadataFile, Line: r.line, Record: short(id), Field: short(h.names[i]), Value: short(string(r.cells[i])),
				Message: AttachmentFault(c.request.Organism, strings.TrimPrefix(h.names[i], filesPrefix), 1) + ": leave the field empty, or the column out; nothing was stored",
			})
		}
	}
	c.accession(h, r, fault)
	if message := idFault(id); message != "" {
		fault(h.names[h.id], id, "%s", message)
		return nil
	}
	number, found := c.rows.add(id)
	if found {
		fault(h.names[h.id], id, "the id %s stands in line %d already; the metadata file has a duplicate %s",
			quoted(id), c.rowLines[number], c.idName())
		return nil
	}
	c.rowLines = append(c.rowLines, lineNumber(r.line))
	fastaIDs := c.fastaIDs(h, r, id, number, fault)
	if c.problems() > before || len(c.invalid.Problems) > 0 {
		return nil
	}
	return c.spoolRow(h, r, id, fastaIDs, fault)
}

// cells checks what the cells are, apart from the ids.
func (c *checker) cells(h columns, r row, fault func(field, value, format string, args ...any)) {
	count := len(r.cells)
	for count > len(h.names) && len(r.cells[count-1]) == 0 {
		count--
	}
	if count != len(h.names) {
		fault("", "", "the row has %d %s, the header has %d", count, plural(count, "field", "fields"), len(h.names))
	}
	for i, cell := range r.cells[:min(count, len(h.names))] {
		if h.names[i] == "" && len(cell) > 0 {
			fault("", string(cell), "column %d has the value %s, but no name", i+1, quoted(string(cell)))
		}
		if bytes.IndexByte(cell, 0) >= 0 && i != h.id && i != h.accession {
			fault(h.names[i], string(cell), "the value has the character %s, which can't be stored; remove it", describe(0))
		}
	}
}

// idName is what the protocol calls a submission id in an error: differently for
// submissions and revisions.
func (c *checker) idName() string {
	if c.request.Revision {
		return "submission_id"
	}
	return submissionIDColumn
}

// accession notes which accession the row of a revision revises.
func (c *checker) accession(h columns, r row, fault func(field, value, format string, args ...any)) {
	if h.accession < 0 {
		return
	}
	accession := string(r.cells[h.accession])
	if message := accessionFault(accession); message != "" {
		fault(accessionColumn, accession, "%s", message)
		return
	}
	number, found := c.accessions.add(accession)
	if found {
		fault(accessionColumn, accession, "the accession %s stands in line %d already; the metadata file has a duplicate accession",
			quoted(accession), c.accessionLines[number])
		return
	}
	c.accessionLines = append(c.accessionLines, lineNumber(r.line))
}

// fastaIDs notes which FASTA ids the row names: those of its own column, or its id.
// An organism without sequences has none, though its column is checked.
func (c *checker) fastaIDs(h columns, r row, id string, number int, fault func(field, value, format string, args ...any)) []string {
	ids := []string{id}
	if h.fastaIDs >= 0 {
		cell := string(r.cells[h.fastaIDs])
		ids = strings.FieldsFunc(cell, func(r rune) bool { return r == ' ' })
		if len(ids) == 0 {
			fault(fastaIDsColumn, "", "the field is empty; it must name the FASTA ids of the row, separated by blanks")
		}
	}
	if !c.request.Organism.ConsensusSequences {
		faultTwice(ids, fault)
		return nil
	}
	for _, fastaID := range ids {
		if message := idFault(fastaID); message != "" {
			fault(fastaIDsColumn, fastaID, "%s: %s", quoted(fastaID), message)
			continue
		}
		i, found := c.sequences.add(fastaID)
		switch {
		case !found:
			c.found = append(c.found, sequenceOfFile{row: int32(number)})
			c.wanted++
		case int(c.found[i].row) == number:
			fault(fastaIDsColumn, fastaID, standsTwice, quoted(fastaID))
		default:
			c.joining++
			fault(fastaIDsColumn, fastaID, "the FASTA id %s belongs to the row of line %d already; the metadata file has duplicate fastaIds", quoted(fastaID), c.rowLines[c.found[i].row])
		}
	}
	return ids
}

const standsTwice = "the FASTA id %s stands twice in the field"

// faultTwice reports the ids that stand twice.
func faultTwice(ids []string, fault func(field, value, format string, args ...any)) {
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			fault(fastaIDsColumn, id, standsTwice, quoted(id))
		}
		seen[id] = true
	}
}

// maxBlock is how many bytes of rows are compressed together.
const maxBlock = 64 << 10

// spoolRow puts the row into the spool: its id, its metadata as a JSON object
// and the FASTA ids, each with its length before it.
func (c *checker) spoolRow(h columns, r row, id string, fastaIDs []string, fault func(field, value, format string, args ...any)) error {
	metadata := c.metadata[:0]
	metadata = append(metadata, '{')
	for i, member := range h.members {
		if member == nil {
			continue
		}
		if len(metadata) > 1 {
			metadata = append(metadata, ',')
		}
		metadata = appendJSON(append(metadata, member...), r.cells[i])
	}
	metadata = append(metadata, '}')
	c.metadata = metadata
	size := len(metadata)
	c.block = appendSized(appendSized(c.block, id), metadata)
	c.block = binary.AppendUvarint(c.block, uint64(len(fastaIDs)))
	for _, fastaID := range fastaIDs {
		c.block = appendSized(c.block, fastaID)
		size += len(fastaID) + len(`"":"",`)
	}
	c.entryBytes = append(c.entryBytes, size)
	if size > c.limits.EntryBytes {
		fault("", "", "the metadata of the row are larger than %s, which is the limit of an entry", inBytes(c.limits.EntryBytes))
	}
	if len(c.block) < maxBlock {
		return nil
	}
	return c.endBlock()
}

func appendSized[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// endBlock compresses the rows that wait in memory.
func (c *checker) endBlock() error {
	if len(c.block) == 0 {
		return nil
	}
	f, err := c.spool.addBlock(c.block)
	if err != nil {
		return err
	}
	c.blocks = append(c.blocks, f)
	c.block = c.block[:0]
	return nil
}
