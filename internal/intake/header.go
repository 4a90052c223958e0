package intake

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// columns is what the header of the metadata says.
type columns struct {
	names   []string // up to the last that has a name; "" for one without
	members [][]byte // the names as JSON members, nil if the column is no metadata
	id      int
	// accession is -1 unless it says what a revision revises; fastaIDs may be -1.
	accession, fastaIDs int
	attachments         []int // of categories that the organism has
}

// The columns that are no metadata.
const (
	idColumn           = "id"
	submissionIDColumn = "submissionId"
	accessionColumn    = "accession" // of revisions; for a submission it is metadata
	fastaIDsColumn     = "fastaIds"
	filesPrefix        = "files."
)

// header reads the names of the columns and reports what is wrong with them. It
// is not ok if they can't be relied on: then no row means anything.
func (c *checker) header(r row) (h columns, ok bool) {
	before := c.problems()
	fault := func(field, format string, args ...any) {
		c.invalid.Add(seqlease.Problem{File: metadataFile, Line: r.line, Field: short(field), Value: short(field), Message: fmt.Sprintf(format, args...)})
	}
	if message := notTable(r); message != "" {
		fault("", "%s", message)
		return h, false
	}
	h.names = columnNames(r.cells)
	h.members = make([][]byte, len(h.names))
	h.id, h.accession, h.fastaIDs = -1, -1, -1
	first := map[string]int{}
	hasMetadata := false
	for i, name := range h.names {
		if name == "" {
			continue
		}
		if message := columnFault(name); message != "" {
			fault(name, "%s", message)
		}
		if j, found := first[name]; found {
			fault(name, "the columns %d and %d have the same name %s", j+1, i+1, quoted(name))
		} else {
			first[name] = i
		}
		switch {
		case name == idColumn, name == submissionIDColumn:
			h.id = i
		case name == fastaIDsColumn:
			h.fastaIDs = i
		case name == accessionColumn && c.request.Revision:
			h.accession = i
		case strings.HasPrefix(name, filesPrefix):
			message := AttachmentFault(c.request.Organism, strings.TrimPrefix(name, filesPrefix), 0)
			if message == "" {
				h.attachments = append(h.attachments, i)
				continue
			}
			c.attachments.Add(seqlease.Problem{
				File: metadataFile, Line: r.line, Field: short(name), Value: short(name), Message: message + ": leave the column out; nothing was stored",
			})
		default:
			h.members[i] = append(appendJSON(nil, []byte(name)), ':')
			hasMetadata = true
		}
	}
	if c.request.Revision && h.accession < 0 {
		fault("", "there is no column %q, which says which entry each row revises; the columns are %s", accessionColumn,
			few(len(h.names), func(i int) string { return quoted(h.names[i]) }))
	}
	_, id := first[idColumn]
	_, submissionID := first[submissionIDColumn]
	switch {
	case id && submissionID:
		fault("", "there are the columns %q and %q; one of them is right", idColumn, submissionIDColumn)
	case !id && !submissionID:
		fault("", "there is no column %q (or %q); the columns are %s%s", idColumn, submissionIDColumn,
			few(len(h.names), func(i int) string { return quoted(h.names[i]) }), similarIDColumn(h.names))
	case !hasMetadata:
		fault("", "there is no column beside the ids; at least one column of metadata is needed")
	}
	if len(h.names) > c.limits.Columns {
		fault("", "there are %d columns; at most %d are allowed", len(h.names), c.limits.Columns)
	}
	return h, c.problems() == before
}

// problems counts the problems that were found.
func (c *checker) problems() int { return len(c.invalid.Problems) + c.invalid.More }

// columnNames drops the columns without a name at the end, which spreadsheets add.
func columnNames(cells [][]byte) []string {
	for len(cells) > 0 && len(cells[len(cells)-1]) == 0 {
		cells = cells[:len(cells)-1]
	}
	names := make([]string, len(cells))
	for i, cell := range cells {
		names[i] = string(cell)
	}
	return names
}

// notTable says what a file is whose first row is this, if it is no table with tabs.
func notTable(r row) string {
	first := r.cells[0]
	switch {
	case len(first) > 0 && first[0] == '>':
		return "this looks like FASTA, not like a table; are the metadata file and the sequence file swapped?"
	case len(r.cells) > 1:
		return ""
	}
	for _, separator := range []struct{ letter, name string }{{",", "commas"}, {";", "semicolons"}, {" ", "blanks"}} {
		names := strings.Split(string(first), separator.letter)
		isID := slices.Contains(names, idColumn) || slices.Contains(names, submissionIDColumn)
		if len(names) > 1 && (isID || separator.letter != " ") {
			return fmt.Sprintf("the columns seem to be separated by %s; save the table as tab-separated text: one tab between columns", separator.name)
		}
	}
	return ""
}

// columnFault says what is wrong with the name of a column, or "".
func columnFault(name string) string {
	if n := utf8.RuneCountInString(name); n > maxIDLength {
		return fmt.Sprintf("the name of the column has %d characters; at most %d are allowed", n, maxIDLength)
	}
	for i, r := range name {
		if r != ' ' && invisible(r) {
			return fmt.Sprintf("the name of the column has the invisible character %s in position %d; remove it",
				describe(r), utf8.RuneCountInString(name[:i])+1)
		}
	}
	return ""
}

// similarIDColumn points at a column that was probably meant to hold the ids.
func similarIDColumn(names []string) string {
	for _, name := range names {
		letters := strings.Map(func(r rune) rune {
			if invisible(r) || r == '_' || r == '-' {
				return -1
			}
			return r
		}, name)
		if strings.EqualFold(letters, idColumn) || strings.EqualFold(letters, submissionIDColumn) {
			return fmt.Sprintf("; %s must be written as %q", escaped(name), idColumn)
		}
	}
	return ""
}

// appendJSON appends text as a JSON string: as it is, except what JSON or a
// reader of lines would trip over. The next-line character and U+2028 and
// U+2029 end a line for some readers and are written as escapes for them.
func appendJSON(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		var escape string
		size := 1
		switch b := s[i]; {
		case b == '"' || b == '\\':
			escape = `\` + string(rune(b))
		case b == '\n':
			escape = `\n`
		case b == '\t':
			escape = `\t`
		case b == '\r':
			escape = `\r`
		case b < ' ':
			escape = `\u00` + string([]byte{hex[b>>4], hex[b&15]})
		case b == 0xc2 && bytes.HasPrefix(s[i:], []byte("\u0085")):
			escape, size = `\u0085`, 2
		case b == 0xe2 && bytes.HasPrefix(s[i:], []byte("\u2028")):
			escape, size = `\u2028`, 3
		case b == 0xe2 && bytes.HasPrefix(s[i:], []byte("\u2029")):
			escape, size = `\u2029`, 3
		default:
			continue
		}
		dst = append(append(dst, s[start:i]...), escape...)
		start = i + size
		i = start - 1
	}
	return append(append(dst, s[start:]...), '"')
}
