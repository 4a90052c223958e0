package intake

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blankLetters are characters that count as letters, marks or symbols in Unicode
// and yet show nothing.
const blankLetters = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"

// invisible says whether a character can't be seen or tells nothing apart:
// white space of any kind, controls and formats such as U+200B.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z) || strings.ContainsRune(blankLetters, r)
}

// describe names a character so that it can be found: "U+00A0 (no-break space)".
func describe(r rune) string {
	names := map[rune]string{
		0: "NUL", '\t': "tab", '\n': "line break", '\r': "line break", ' ': "blank", 0x85: "next line", 0xa0: "no-break space",
		0xad: "soft hyphen", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner", 0x200d: "zero-width joiner",
		0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator",
		0x202f: "narrow no-break space", 0x2060: "word joiner", 0xfeff: "byte order mark",
	}
	switch name, named := names[r]; {
	case named:
		return fmt.Sprintf("%U (%s)", r, name)
	case invisible(r):
		return fmt.Sprintf("%U", r)
	default:
		return fmt.Sprintf("%q (%U)", string(r), r)
	}
}

// idFault says what is wrong with a submission id or FASTA id, or "". The same
// rule for both: 1 to 255 characters, none of them blank or invisible.
func idFault(id string) string {
	switch {
	case isPlainID(id):
		return ""
	case id == "":
		return "the id is empty"
	case !utf8.ValidString(id):
		return "the id is not UTF-8; save the file as UTF-8"
	case utf8.RuneCountInString(id) > maxIDLength:
		return fmt.Sprintf("the id has %d characters; at most %d are allowed", utf8.RuneCountInString(id), maxIDLength)
	}
	for i, r := range id {
		if invisible(r) {
			return fmt.Sprintf("the id has the character %s in position %d; ids may not have blanks or invisible characters",
				describe(r), utf8.RuneCountInString(id[:i])+1)
		}
	}
	return ""
}

// accessionFault says what is wrong with an accession, or "".
func accessionFault(accession string) string {
	if message := idFault(accession); message != "" {
		return strings.Replace(message, "the id ", "the accession ", 1)
	}
	if name, _, dotted := strings.Cut(accession, "."); dotted {
		return fmt.Sprintf("an accession has no dot: write %s, without the version", quoted(name))
	}
	return ""
}

// isPlainID says whether an id is of the kind that nearly all are: printable ASCII.
func isPlainID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxIDLength
}

// maxShown is how many characters of a value a message shows.
const maxShown = 60

// short cuts a value to a length that can be read in a message.
func short(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s[:min(len(s), maxShown*utf8.UTFMax)])[:maxShown]) + "…"
}

// quoted shows a value in quotes, with invisible characters as escapes.
func quoted(s string) string { return strconv.Quote(short(s)) }

// escaped shows a value with everything beyond ASCII as code points.
func escaped(s string) string { return strconv.QuoteToASCII(short(s)) }

// few lists the first ten of the values that each calls its argument with, and
// says how many more there are.
func few(n int, at func(i int) string) string {
	const listed = 10
	parts := make([]string, 0, listed+1)
	for i := range min(n, listed) {
		parts = append(parts, at(i))
	}
	if n > listed {
		parts = append(parts, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(parts, ", ")
}
