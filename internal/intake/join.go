package intake

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/seqlease/seqlease"
)

// readSequences reads all records and puts those that a row names into the spool.
func (c *checker) readSequences(t *text) error {
	records := &fasta{text: t, limits: c.limits, report: c.invalid.Add}
	for n := 0; ; n++ {
		r, err := records.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n >= c.limits.Sequences {
			return tooLarge(seqlease.Problem{
				File: sequenceFile, Line: r.line,
				Message: fmt.Sprintf("one upload may have %d sequences; split the submission", c.limits.Sequences),
			})
		}
		if r.id == "" {
			continue // reported by the reader
		}
		if n == largeCount {
			if err := c.large(c.ctx); err != nil {
				return err
			}
		}
		if err := c.sequence(r); err != nil {
			return err
		}
	}
}

// sequence notes a record and puts it into the spool, unless the upload is
// invalid. It may be a record that the reader has found a fault in.
func (c *checker) sequence(r sequenceRecord) error {
	i, known := c.sequences.add(r.id)
	if !known {
		c.found = append(c.found, sequenceOfFile{row: -1})
	}
	s := &c.found[i]
	if s.line > 0 {
		c.invalid.Add(seqlease.Problem{
			File: sequenceFile, Line: r.line, Record: short(r.id), Value: short(r.id),
			Message: fmt.Sprintf("the FASTA id %s stands in line %d already; the sequence file has a duplicate %s", quoted(r.id), s.line, submissionIDColumn),
		})
		return nil
	}
	s.line = lineNumber(r.line)
	if s.row < 0 || r.faulty || len(c.invalid.Problems) > 0 {
		return nil
	}
	c.entryBytes[s.row] += len(r.letters)
	if c.entryBytes[s.row] > c.limits.EntryBytes {
		c.invalid.Add(seqlease.Problem{
			File: sequenceFile, Line: r.line, Record: short(r.id),
			Message: fmt.Sprintf("with this sequence the entry %s is larger than %s, which is the limit of an entry",
				quoted(c.rows.at(int(s.row))), inBytes(c.limits.EntryBytes)),
		})
		return nil
	}
	if c.entryBytes[s.row] > largeBytes {
		if err := c.large(c.ctx); err != nil {
			return err
		}
	}
	f, err := c.spool.addSequence(r.letters)
	s.frame = f
	return err
}

// join compares the ids of both files, as sets and byte by byte.
func (c *checker) join() {
	var absent, surplus []int
	for i, s := range c.found {
		switch {
		case s.row < 0:
			surplus = append(surplus, i)
		case s.line == 0:
			absent = append(absent, i)
		}
	}
	if c.rows.len() == 0 {
		message := "the table has a header and no rows: there are no entries"
		if len(surplus) > 0 {
			message += fmt.Sprintf(", but %d %s: %s", len(surplus), plural(len(surplus), "sequence", "sequences"), c.inSequenceFile(surplus))
		}
		c.invalid.Add(seqlease.Problem{File: metadataFile, Message: message})
		return
	}
	if c.request.Sequences == nil || len(c.invalid.Problems) > 0 {
		return
	}
	c.reportAbsent(absent, surplus)
	c.reportSurplus(surplus)
}

// maxMismatches is how many ids without a partner are named for each file
// (protocol, joining). Those of both files just fit into an error: how many there
// are in all is told with the last one.
const maxMismatches = seqlease.MaxListedProblems / 2

// inAll ends the message of an id that is named as the n-th, from 1, of so many.
func inAll(n, all int, what string) string {
	if n < maxMismatches || all == n {
		return ""
	}
	return fmt.Sprintf("; there are %d %s, %d of them not named here", all, what, all-n)
}

func (c *checker) reportAbsent(absent, surplus []int) {
	alike := c.lookalikes(absent, surplus)
	for n, i := range absent[:min(len(absent), maxMismatches)] {
		fastaID, row := c.sequences.at(i), c.found[i].row
		p := seqlease.Problem{
			File: metadataFile, Line: int(c.rowLines[row]), Record: short(c.rows.at(int(row))), Value: short(fastaID),
			Message: "no sequence in the sequence file has this id" + alike[i],
		}
		if c.rows.at(int(row)) != fastaID {
			p.Field = fastaIDsColumn
			p.Message = "no sequence in the sequence file has the FASTA id " + quoted(fastaID) + alike[i]
		}
		p.Message += inAll(n+1, len(absent), "FASTA ids without a sequence in the sequence file")
		c.invalid.Add(p)
	}
}

func (c *checker) reportSurplus(surplus []int) {
	for n, i := range surplus[:min(len(surplus), maxMismatches)] {
		fastaID := c.sequences.at(i)
		c.invalid.Add(seqlease.Problem{
			File: sequenceFile, Line: int(c.found[i].line), Record: short(fastaID), Value: short(fastaID),
			Message: "no row of the metadata file names this sequence" + inAll(n+1, len(surplus), "sequences without a row in the metadata file"),
		})
	}
}

func (c *checker) inSequenceFile(sequences []int) string {
	return few(len(sequences), func(i int) string {
		return fmt.Sprintf("%s (line %d)", quoted(c.sequences.at(sequences[i])), c.found[sequences[i]].line)
	})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// lookalikes finds ids that people take for the same, and says by absent id how
// they differ.
func (c *checker) lookalikes(absent, surplus []int) map[int]string {
	alike := func(id string) string { return strings.ToLower(norm.NFKC.String(id)) }
	wanted := map[string]int{}
	for _, i := range absent[:min(len(absent), maxMismatches)] {
		wanted[alike(c.sequences.at(i))] = i
	}
	differences := map[int]string{}
	for _, i := range surplus {
		id := c.sequences.at(i)
		j, found := wanted[alike(id)]
		if !found {
			continue
		}
		delete(wanted, alike(id))
		of := c.sequences.at(j)
		reason := "upper and lower case differ"
		if !strings.EqualFold(of, id) {
			reason = "they look alike, but are different characters"
		}
		differences[j] = fmt.Sprintf("; %s in the metadata file is not %s in the sequence file: %s", escaped(of), escaped(id), reason)
	}
	return differences
}
