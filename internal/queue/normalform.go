package queue

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// upperCase turns the letters a to z of all sequences and inserted sequences
// into capitals; other characters stay, whatever the locale.
func upperCase(d *seqlease.ProcessedData) {
	for _, sequences := range []map[string]*string{
		d.UnalignedNucleotideSequences, d.AlignedNucleotideSequences, d.AlignedAminoAcidSequences,
	} {
		for name, sequence := range sequences {
			if sequence == nil {
				continue
			}
			if capitals := upper(*sequence); capitals != *sequence {
				sequences[name] = &capitals
			}
		}
	}
	for _, insertions := range []map[string][]seqlease.Insertion{d.NucleotideInsertions, d.AminoAcidInsertions} {
		for _, list := range insertions {
			for i := range list {
				list[i].Sequence = upper(list[i].Sequence)
			}
		}
	}
}

// upper returns s itself, without a copy, where nothing is to be changed.
func upper(s string) string {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			continue
		}
		b := []byte(s)
		for j := i; j < len(b); j++ {
			if 'a' <= b[j] && b[j] <= 'z' {
				b[j] -= 'a' - 'A'
			}
		}
		return string(b)
	}
	return s
}

// encode appends the document of a result in the normal form of storage
// ([seqlease.StoredResult]). Equal results give equal bytes, so that their
// digest tells a repetition from a different result (L6). With plain the sequences are
// known to be of letters that stand in JSON as they are.
func encode(dst []byte, r *seqlease.Result, plain bool) ([]byte, error) {
	d := &r.Data
	dropNull(d.Metadata, func(v stdjson.RawMessage) bool { return len(v) == 0 || string(v) == "null" })
	absent := func(s *string) bool { return s == nil }
	dropNull(d.UnalignedNucleotideSequences, absent)
	dropNull(d.AlignedNucleotideSequences, absent)
	dropNull(d.AlignedAminoAcidSequences, absent)
	none := func(list []seqlease.Insertion) bool { return len(list) == 0 }
	dropNull(d.NucleotideInsertions, none)
	dropNull(d.AminoAcidInsertions, none)
	stored := seqlease.StoredResult{Data: *d, Errors: r.Errors, Warnings: r.Warnings}
	var out takenOut
	if plain {
		out.take(&stored.Data)
	}
	document, err := json.Marshal(stored, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return out.appendWhole(dst, document), nil
}

func dropNull[V any](m map[string]V, isNull func(V) bool) {
	maps.DeleteFunc(m, func(_ string, v V) bool { return isNull(v) })
}

// shorten cuts s to at most limit bytes between two characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[:limit]
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return strings.TrimSpace(s) + "…"
}
