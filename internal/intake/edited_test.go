package intake

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

func TestCheckEdited_TakesAnythingWithinTheLimits(t *testing.T) {
	t.Parallel()
	longest, largest, none, letters := strings.Repeat("é", 1<<19), strings.Repeat("A", 10<<20), "", "acgtnACGTN-.?*ryu"
	many := map[string]string{}
	for i := range 1000 {
		many[strconv.Itoa(i)] = ""
	}
	for name, data := range map[string]struct {
		metadata  map[string]string
		sequences map[string]*string
	}{
		"nothing":           {},
		"no sequence":       {nil, map[string]*string{"s": &none, "t": nil}},
		"every letter":      {nil, map[string]*string{"hCoV-19/é|2020": &letters}},
		"no field is known": {map[string]string{"": "", "colour of the fern": "\u2028\ufffd\x01"}, nil},
		"the longest":       {map[string]string{"country": longest}, map[string]*string{"s": &largest}},
		"the most fields":   {many, nil},
	} {
		if err := CheckEdited(data.metadata, data.sequences); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckEdited_L18_NamesEveryTextThatCannotBeStored(t *testing.T) {
	t.Parallel()
	broken, fine := "A\xff", "A"
	err := CheckEdited(map[string]string{"country": "a\x00", "fine": "x", "na\x00me": ""}, map[string]*string{"s": &broken, "\xed\xa0\x80": &fine, "n\x00": nil})
	var invalid *seqlease.InvalidError
	if !errors.As(err, &invalid) || invalid.Kind != seqlease.InvalidContent {
		t.Fatalf("got %v, want invalid content", err)
	}
	var fields []string
	for _, p := range invalid.Problems {
		fields = append(fields, p.Field)
	}
	want := "data.metadata.country|data.metadata.na\x00me|data.unalignedNucleotideSequences.n\x00|data.unalignedNucleotideSequences.s|data.unalignedNucleotideSequences.\xed\xa0\x80"
	if got := strings.Join(fields, "|"); got != want {
		t.Errorf("got the fields %q, want %q", got, want)
	}
}

// TestCheckEdited_RefusesWhatWouldReadAsAnother has ids and sequences that would be
// others, or more of them, once they are written as FASTA.
func TestCheckEdited_RefusesWhatWouldReadAsAnother(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, sequence, says string }{
		{"s", "ACGT\n>evil\nGG", "position 5 of the sequence is U+000A (line break)"},
		{"s", "ACéT", "position 3"},
		{"s", "AC GT", "position 3 of the sequence is U+0020 (blank)"},
		{"s", ">A", "position 1"},
		{"u 1", "A", "blank"},
		{"u\n1", "A", "line break"},
		{"", "A", "the id is empty"},
		{strings.Repeat("n", 256), "A", "256 characters"},
	} {
		err := CheckEdited(nil, map[string]*string{tt.id: &tt.sequence})
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "data.unalignedNucleotideSequences."+tt.id[:min(len(tt.id), 1)]) {
			t.Errorf("%.20q with %q: got %v, want that %s", tt.id, tt.sequence, err, tt.says)
		}
	}
}

func TestCheckEdited_NamesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("A", 10<<20+1), map[string]string{}
	for i := range 1001 {
		many[strconv.Itoa(i)] = ""
	}
	for _, tt := range []struct {
		err  error
		is   error
		says []string
	}{
		{CheckEdited(map[string]string{"country": long[:1<<20+1]}, nil), seqlease.ErrTooLarge, []string{"data.metadata.country", "1 MiB"}},
		{CheckEdited(nil, map[string]*string{"s": &long}), seqlease.ErrTooLarge, []string{"data.unalignedNucleotideSequences.s", "10 MiB"}},
		{CheckEdited(many, nil), nil, []string{"data.metadata", "1001", "1000"}},
		{CheckDocument(make([]byte, 31<<20+1)), seqlease.ErrTooLarge, []string{"data", "31 MiB"}},
		{CheckEdited(map[string]string{strings.Repeat("n", 500): "\x00"}, nil), nil, []string{"nnnn…"}},
	} {
		if tt.err == nil || tt.is != nil && !errors.Is(tt.err, tt.is) {
			t.Errorf("got %v, want %v", tt.err, tt.is)
			continue
		}
		for _, word := range tt.says {
			if !strings.Contains(tt.err.Error(), word) {
				t.Errorf("%q doesn't say %q", tt.err, word)
			}
		}
	}
	if err := CheckDocument(make([]byte, 31<<20)); err != nil {
		t.Errorf("the largest document: %v", err)
	}
}
