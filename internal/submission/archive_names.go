package submission

import (
	"strconv"
	"strings"
	"unicode"
)

// uniqueNames makes each name stand once, in the order of the names: the first of
// equal ones stays, later ones get _1, _2 and so on, where no other name is like
// that, neither one of the originals nor one that was made.
func uniqueNames(originals []string) []string {
	taken := make(map[string]bool, len(originals))
	for _, name := range originals {
		taken[name] = true
	}
	used := make(map[string]bool, len(originals))
	next := map[string]int{} // the suffix to try
	names := make([]string, len(originals))
	for i, name := range originals {
		if !used[name] {
			used[name] = true
			names[i] = name
			continue
		}
		candidate := name
		for taken[candidate] {
			next[name]++
			candidate = name + "_" + strconv.Itoa(next[name])
		}
		taken[candidate], used[candidate] = true, true
		names[i] = candidate
	}
	return names
}

// asID makes an id that FASTA and the table can hold of any text, which what was
// edited may be: white space would end it.
func asID(id, otherwise string) string {
	id = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, id)
	if id == "" {
		return otherwise
	}
	return id
}

// isColumn says whether metadata of that key can stand in the table: it would be read
// as something else, or not at all, if it were called like one of the other columns or
// had no name. (Only an upload of new entries may have a column "accession" among its
// metadata.)
func isColumn(key string) bool {
	switch key {
	case "id", "submissionId", "accession", "fastaIds":
		return false
	default:
		return strings.TrimSpace(key) != "" && !strings.HasPrefix(key, "files.")
	}
}

// appendRow appends a line of the table.
func appendRow(dst []byte, cells []string) []byte {
	for i, cell := range cells {
		if i > 0 {
			dst = append(dst, '\t')
		}
		if !needsQuotes(cell) {
			dst = append(dst, cell...)
			continue
		}
		dst = append(append(append(dst, '"'), strings.ReplaceAll(cell, `"`, `""`)...), '"')
	}
	return append(dst, "\r\n"...)
}

// needsQuotes says whether a reader of the table would see something else without:
// blanks around a cell are dropped.
func needsQuotes(cell string) bool {
	return strings.ContainsAny(cell, "\t\r\n\"") || strings.TrimSpace(cell) != cell
}
