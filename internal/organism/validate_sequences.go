package organism

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// alphabet marks each byte that may not stand in a sequence with 1.
type alphabet [256]uint8

// The alphabets, in capitals (protocol, validation of processed data). There is
// no U: RNA is written with T.
var (
	unalignedNucleotides = newAlphabet("ACGTMRWSYKVHDBN")
	alignedNucleotides   = newAlphabet("ACGTMRWSYKVHDBN-")
	aminoAcids           = newAlphabet("ACDEFGHIKLMNPQRSTVWYBZX-*")
)

func newAlphabet(letters string) *alphabet {
	var a alphabet
	for i := range a {
		a[i] = 1
	}
	for i := range len(letters) {
		a[letters[i]] = 0
	}
	return &a
}

// clean is the fast path: one look-up a byte and one branch for eight of them.
func (a *alphabet) clean(s string) bool {
	for len(s) >= 8 {
		if a[s[0]]|a[s[1]]|a[s[2]]|a[s[3]]|a[s[4]]|a[s[5]]|a[s[6]]|a[s[7]] != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if a[s[i]] != 0 {
			return false
		}
	}
	return true
}

// maxOffending is how many offending characters a message shows.
const maxOffending = 10

// offending quotes the first characters outside the alphabet, in order and with
// repetition, and "..." if there are more; "" if there is none.
func (a *alphabet) offending(s string) string {
	if a.clean(s) {
		return ""
	}
	var found []rune
	for _, r := range s {
		if r < utf8.RuneSelf && a[byte(r)] == 0 {
			continue
		}
		if len(found) == maxOffending {
			return strconv.Quote(string(found)) + "..."
		}
		found = append(found, r)
	}
	return strconv.Quote(string(found))
}

// The members of processed data, as messages name them.
const (
	alignedMember             = "alignedNucleotideSequences"
	unalignedMember           = "unalignedNucleotideSequences"
	nameToFastaIDMember       = "sequenceNameToFastaId"
	nucleotideInsertionMember = "nucleotideInsertions"
	genesMember               = "alignedAminoAcidSequences"
	aminoInsertionMember      = "aminoAcidInsertions"
)

// nucleotides checks N1 to N9.
func (c *check) nucleotides() {
	d, segments := c.data, c.organism.Segments
	lengths(c, "segment", segments, alignedMember, d.AlignedNucleotideSequences)        // N1
	unknown(c, "segments", segments, alignedMember, d.AlignedNucleotideSequences)       // N2
	unknown(c, "segments", segments, unalignedMember, d.UnalignedNucleotideSequences)   // N3
	unknown(c, "segments", segments, nameToFastaIDMember, d.SequenceNameToFastaID)      // N4
	c.sameNames()                                                                       // N5
	unknown(c, "segments", segments, nucleotideInsertionMember, d.NucleotideInsertions) // N6
	letters(c, "segment", alignedMember, d.AlignedNucleotideSequences, alignedNucleotides)
	letters(c, "segment", unalignedMember, d.UnalignedNucleotideSequences, unalignedNucleotides)
	inserted(c, "segment", nucleotideInsertionMember, d.NucleotideInsertions, unalignedNucleotides)
}

// aminoAcids checks A1 to A5.
func (c *check) aminoAcids() {
	d, genes := c.data, c.organism.Genes
	lengths(c, "gene", genes, genesMember, d.AlignedAminoAcidSequences)     // A1
	unknown(c, "genes", genes, genesMember, d.AlignedAminoAcidSequences)    // A2
	unknown(c, "genes", genes, aminoInsertionMember, d.AminoAcidInsertions) // A3
	letters(c, "gene", genesMember, d.AlignedAminoAcidSequences, aminoAcids)
	inserted(c, "gene", aminoInsertionMember, d.AminoAcidInsertions, aminoAcids)
}

// lengths wants each given aligned sequence as long as its reference.
func lengths(c *check, kind string, references []NamedSequence, member string, sequences map[string]*string) {
	for _, reference := range references {
		sequence := sequences[reference.Name]
		if sequence == nil {
			continue
		}
		if got, want := length(*sequence), len(reference.Sequence); got != want {
			c.add(reference.Name, strconv.Itoa(got), "%s of %s %q has length %d, but the reference has %d: an aligned sequence has exactly the length of its reference",
				member, kind, reference.Name, got, want)
		}
	}
}

// length counts UTF-16 units, as the protocol does; a clean sequence has one for
// each byte.
func length(s string) int {
	if isASCII(s) {
		return len(s)
	}
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r > 0xffff {
			n++
		}
	}
	return n
}

// isASCII looks at eight bytes at a time.
func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unknown reports the keys that name none of the references.
func unknown[V any](c *check, kind string, references []NamedSequence, member string, given map[string]V) {
	known := 0
	for _, reference := range references {
		if _, ok := given[reference.Name]; ok {
			known++
		}
	}
	if known == len(given) {
		return
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(name string) bool {
		_, ok := find(references, name)
		return ok
	})
	list := listNames(names)
	c.add(member, shorten(list), "unknown %s in %s: %s", kind, member, list)
}

// sameNames is rule N5: keys with null values count.
func (c *check) sameNames() {
	inFirst := missing(c.data.SequenceNameToFastaID, c.data.UnalignedNucleotideSequences)
	inSecond := missing(c.data.UnalignedNucleotideSequences, c.data.SequenceNameToFastaID)
	var parts []string
	if len(inFirst) > 0 {
		parts = append(parts, unalignedMember+" lacks "+listNames(inFirst))
	}
	if len(inSecond) > 0 {
		parts = append(parts, nameToFastaIDMember+" lacks "+listNames(inSecond))
	}
	if len(parts) > 0 {
		c.add(nameToFastaIDMember, "", "%s and %s must have the same keys: %s", unalignedMember, nameToFastaIDMember, strings.Join(parts, ", "))
	}
}

// missing returns the keys of a that b lacks, in order.
func missing[A, B any](a map[string]A, b map[string]B) []string {
	var names []string
	for name := range a {
		if _, ok := b[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// letters wants each given sequence within the alphabet (N7, N8, A4).
func letters(c *check, kind, member string, sequences map[string]*string, allowed *alphabet) {
	for _, name := range ordered(sequences) {
		if sequence := sequences[name]; sequence != nil {
			if bad := allowed.offending(*sequence); bad != "" {
				c.add(name, bad, "%s of %s %q has characters that are not allowed: %s", member, kind, name, bad)
			}
		}
	}
}

// inserted wants each inserted sequence within the alphabet (N9, A5).
func inserted(c *check, kind, member string, insertions map[string][]seqlease.Insertion, allowed *alphabet) {
	for _, name := range ordered(insertions) {
		for _, insertion := range insertions[name] {
			if bad := allowed.offending(insertion.Sequence); bad != "" {
				c.add(name, shorten(insertion.String()), "%s of %s %q: insertion %s has characters that are not allowed: %s",
					member, kind, name, shorten(insertion.String()), bad)
			}
		}
	}
}

// ordered returns the keys in order.
func ordered[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

const (
	maxListed    = 100 // names in a message
	maxShownName = 200 // bytes of a name or value in a message
)

// listNames joins names by commas, the first maxListed of them.
func listNames(names []string) string {
	shown := make([]string, 0, min(len(names), maxListed))
	for _, name := range names[:min(len(names), maxListed)] {
		shown = append(shown, printable(shorten(name)))
	}
	list := strings.Join(shown, ", ")
	if more := len(names) - maxListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// printable returns a name as it is if it can be seen in full, else quoted.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` || name == "" {
		return quoted
	}
	return name
}

// shorten cuts a text to a readable length.
func shorten(s string) string {
	if len(s) <= maxShownName {
		return s
	}
	return strings.ToValidUTF8(s[:maxShownName], "") + "…"
}
