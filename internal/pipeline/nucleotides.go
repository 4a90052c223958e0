package pipeline

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// letters lists characters of a sequence that are treated alike: how many there
// are, which, and where each stands first (1-based, as submitted).
type letters struct {
	total int
	found []rune
	first map[rune]int
}

func (l *letters) note(r rune, position int) {
	l.total++
	if _, seen := l.first[r]; seen {
		return
	}
	if l.first == nil {
		l.first = map[rune]int{}
	}
	l.first[r] = position
	l.found = append(l.found, r)
}

// maxNamedLetters is how many different characters a message names.
const maxNamedLetters = 10

// String names the characters: `"?" (the first at position 101) and "." (…)`.
func (l *letters) String() string {
	var parts []string
	for _, r := range l.found[:min(len(l.found), maxNamedLetters)] {
		parts = append(parts, fmt.Sprintf("%q (the first at position %d)", string(r), l.first[r]))
	}
	if more := len(l.found) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d other characters", more))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// nucleotideLetter gives each byte its capital nucleotide code, or 0 where it has
// to be looked at: U, gaps, and what is no code.
var nucleotideLetter = func() (letter [256]byte) {
	for _, code := range []byte("ACGTMRWSYKVHDBN") {
		letter[code] = code
		letter[code+'a'-'A'] = code
	}
	return letter
}()

// readSequence brings a submitted sequence into the normal form of nucleotides:
// capital letters, T for U, no gaps, N for unknown bases. What it changes beside
// case is a warning. ok is false, with an error, if there is no sequence in it or
// it has characters that are no nucleotide code.
func (d *draft) readSequence(fastaID, submitted string) (sequence string, ok bool) {
	submitted = strings.TrimSpace(submitted)
	var b strings.Builder
	b.Grow(len(submitted))
	var uracil, gaps, unknown, wrong letters
	position := 0
	for i := 0; i < len(submitted); {
		position++
		if code := nucleotideLetter[submitted[i]]; code != 0 {
			b.WriteByte(code)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(submitted[i:])
		i += size
		switch r {
		case 'U', 'u':
			uracil.note('U', position)
			b.WriteByte('T')
		case '-':
			gaps.note(r, position)
		case '?', '.':
			unknown.note(r, position)
			b.WriteByte('N')
		default:
			wrong.note(r, position)
		}
	}
	about := records(fastaID)
	if wrong.total > 0 {
		d.fail(about, "The sequence %q has characters that are no nucleotide code: %s.", fastaID, &wrong)
		return "", false
	}
	if gaps.total > 0 {
		d.warn(about, "The sequence %q has %d gap characters %s. They are taken out.", fastaID, gaps.total, &gaps)
	}
	if uracil.total > 0 {
		d.warn(about, "The sequence %q is RNA: the %d letters %s are written as T.", fastaID, uracil.total, &uracil)
	}
	if unknown.total > 0 {
		d.warn(about, "The sequence %q has %d characters that stand for no base: %s. They are written as N.",
			fastaID, unknown.total, &unknown)
	}
	if b.Len() == 0 {
		d.fail(about, "The sequence %q is empty.", fastaID)
		return "", false
	}
	return b.String(), true
}
