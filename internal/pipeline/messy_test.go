package pipeline

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// The entries of the messy cases.
const (
	first  = "PRVABC59"
	second = "Colombia/2016/ZC204Se"
	third  = "DOM/2016/BB_0059"
	tick   = "YNDQ-L415G/2021-04-15/China"
)

// notes are what the messages of an entry must contain, by submission id.
type notes map[string][]string

func each(words ...string) notes { return notes{first: words, second: words, third: words} }

// TestAlignMessyCases runs the damaged inputs that a submission may hold. What
// should happen is written in testdata/messy/EXPECTED.md. The partial date of the
// first record, 2015-12-XX, is in most of them.
func TestAlignMessyCases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		folder           string
		errors, warnings notes
		unaligned        map[string]int // length of the main segment, where it isn't that of the clean case
		sameAsClean      bool
	}{
		{folder: "00-clean", warnings: notes{first: {`"2015-12-XX"`}}, sameAsClean: true},
		{folder: "05-lower-case", sameAsClean: true},
		{folder: "06-gaps", warnings: each(`gap characters "-"`), unaligned: map[string]int{first: 1500, second: 1500, third: 1500}},
		{folder: "07-question-marks", warnings: notes{
			first:  {`"PRVABC59"`, `"?" (the first at position 101)`, `"." (the first at position 901)`},
			second: {`"?" (the first at position 101)`, `"." (the first at position 901)`},
			third:  {`"?" (the first at position 101)`, `"." (the first at position 901)`},
		}},
		{folder: "08-iupac"},
		{folder: "09-rna-u", warnings: each(`"U" (the first at position`), sameAsClean: true},
		{folder: "34-very-long-line", errors: notes{"ON843165": {"could not be aligned", "197221 bases"}}},
		{folder: "45-odd-dates", errors: notes{
			first:  {`"date"`, `"9/28/16"`},
			second: {`"date"`, `"2016-13-45"`},
		}, warnings: notes{third: {`"date"`, `"2013-12-XX"`}}},
		{folder: "58-protein-fasta", errors: each(`no nucleotide code`, `"I" (the first at position 1)`)},
		{folder: "60-stop-asterisk", errors: each(`no nucleotide code: "*"`)},
		{folder: "61-all-n", errors: notes{second: {`could not be aligned`, `no bases other than N`}}},
		{folder: "62-too-short", errors: notes{second: {`could not be aligned`, `5 known bases`}}},
		{folder: "63-reverse-complement", errors: notes{second: {`could not be aligned`, `it aligns as its reverse complement`}}},
		{folder: "64-wrong-organism", errors: notes{second: {`could not be aligned`, `too little in common`}}},
		{folder: "65-multi-segment-clean"},
		{folder: "68-multi-segment-one-segment"},
		{folder: "69-multi-segment-double-blank"},
		{folder: "73-multi-segment-same-segment-twice", errors: notes{tick: {`segment S`, `"` + tick + `_S"`, `"` + tick + `_S2"`}}},
	}
	single, multi := newAlign(t, singleSegment(t, "zika")), newAlign(t, cchf(t))
	clean := processFolder(t, single, "00-clean")
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			t.Parallel()
			p := single
			if strings.Contains(tt.folder, "multi-segment") {
				p = multi
			}
			for id, result := range processFolder(t, p, tt.folder) {
				checkNotes(t, id+" errors", result.Errors, tt.errors[id], true)
				checkNotes(t, id+" warnings", result.Warnings, tt.warnings[id], false)
				if tt.sameAsClean {
					if diff := cmp.Diff(clean[id].Data, result.Data); diff != "" {
						t.Errorf("%s: not as in the clean case (-clean +got):\n%s", id, diff)
					}
				}
				if want, ok := tt.unaligned[id]; ok && len(*result.Data.UnalignedNucleotideSequences[organism.MainSegment]) != want {
					t.Errorf("%s: %d bases, want %d", id, len(*result.Data.UnalignedNucleotideSequences[organism.MainSegment]), want)
				}
			}
		})
	}
}

func processFolder(t *testing.T, p *Align, folder string) map[string]seqlease.Result {
	t.Helper()
	results := map[string]seqlease.Result{}
	for _, entry := range readEntries(t, path.Join("messy", folder)) {
		results[entry.SubmissionID] = process(t, p, entry)
	}
	if len(results) == 0 {
		t.Errorf("%s has no entries", folder)
	}
	return results
}

// checkNotes checks that the messages have all the words. With exact, there must
// be no message where there are no words.
func checkNotes(t *testing.T, what string, got []seqlease.Annotation, words []string, exact bool) {
	t.Helper()
	text := messages(got)
	if exact && len(words) == 0 && text != "" {
		t.Errorf("%s: %q, want none", what, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s: %q, want %q in it", what, text, word)
		}
	}
}
