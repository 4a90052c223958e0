package intake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// CheckEdited checks data that come without files, by the limits of an upload, the
// rule of what can be stored (L18), and what ids and sequences may hold in a file, to
// which they will be written again: anything else is stored as given. The error
// is a [*seqlease.InvalidError] or [seqlease.ErrTooLarge], and names the member.
func CheckEdited(metadata map[string]string, sequences map[string]*string) error {
	limits := Limits{}.orDefaults()
	if len(metadata) > limits.Columns {
		return seqlease.Invalid(seqlease.Problem{
			Field: "data.metadata", Message: fmt.Sprintf("data.metadata has %d fields; at most %d are allowed", len(metadata), limits.Columns),
		})
	}
	invalid := &seqlease.InvalidError{}
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		value, field := metadata[name], "data.metadata."+name
		if len(value) > limits.CellBytes {
			return tooLarge(seqlease.Problem{Field: short(field), Message: "the value is longer than " + inBytes(limits.CellBytes) + ", which is the limit"})
		}
		addUnstorable(invalid, field, name, value)
	}
	for _, id := range slices.Sorted(maps.Keys(sequences)) {
		sequence, field := sequences[id], "data.unalignedNucleotideSequences."+id
		if fault := idFault(id); fault != "" {
			invalid.Add(seqlease.Problem{Field: short(field), Message: fault})
			continue
		}
		if sequence == nil {
			continue
		}
		if len(*sequence) > limits.SequenceBytes {
			return tooLarge(seqlease.Problem{Field: short(field), Message: "the sequence is longer than " + inBytes(limits.SequenceBytes) + ", which is the limit"})
		}
		// Others would make another record of it where it is written as FASTA.
		if i := strings.IndexFunc(*sequence, func(r rune) bool { return r > 127 || !sequenceLetters[r] }); i >= 0 {
			letter, _ := utf8.DecodeRuneInString((*sequence)[i:])
			invalid.Add(seqlease.Problem{
				Field: short(field), Value: string(letter),
				Message: fmt.Sprintf("position %d of the sequence is %s; a sequence has letters, and the signs - . ? *", i+1, describe(letter)),
			})
		}
	}
	return invalid.OrNil()
}

// CheckDocument refuses a document that is larger than that of an entry may be.
func CheckDocument(document []byte) error {
	if limit := (Limits{}).orDefaults().EntryBytes; len(document) > limit {
		return tooLarge(seqlease.Problem{Field: "data", Message: "the data are larger than " + inBytes(limit) + ", which is the limit of an entry"})
	}
	return nil
}

func addUnstorable(invalid *seqlease.InvalidError, field string, texts ...string) {
	for _, text := range texts {
		if !seqlease.IsStorable(text) {
			invalid.Add(seqlease.Problem{Field: short(field), Message: "it has a NUL character or broken UTF-8 in it, which can't be stored"})
			return
		}
	}
}
