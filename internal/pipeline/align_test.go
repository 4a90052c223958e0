package pipeline

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/align"
	"github.com/seqlease/seqlease/internal/organism"
)

// entryWith returns an entry with these sequences and no metadata.
func entryWith(sequences map[string]string) seqlease.Entry {
	return seqlease.Entry{
		AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1},
		Data:             seqlease.SubmittedData{UnalignedNucleotideSequences: sequences},
	}
}

// TestAlignSegments: which sequences an entry may have, and what is said of others.
func TestAlignSegments(t *testing.T) {
	t.Parallel()
	single, multi := newAlign(t, singleSegment(t, "zika")), newAlign(t, cchf(t))
	none, err := NewAlign(&organism.Organism{Key: "none", DisplayName: "None"})
	if err != nil {
		t.Fatal(err)
	}
	zika := single.organism.Segments[0].Sequence
	l, m, s := multi.organism.Segments[0].Sequence, multi.organism.Segments[1].Sequence, multi.organism.Segments[2].Sequence
	tests := []struct {
		name      string
		pipeline  *Align
		sequences map[string]string
		segments  map[string]string // segment to FASTA id
		error     string            // "": none
	}{
		{"one", single, map[string]string{"a": zika}, map[string]string{"main": "a"}, ""},
		{"two for one segment", single, map[string]string{"b": zika, "a": zika}, map[string]string{}, `only one segment: "a", "b"`},
		{"none", single, nil, map[string]string{}, "has no sequence"},
		{"none where none belongs", none, nil, map[string]string{}, ""},
		{"one where none belongs", none, map[string]string{"a": zika}, map[string]string{}, `None takes no sequences, but the entry has "a"`},
		{"by suffix", multi, map[string]string{"a_b_L": l, "a_b_S": s}, map[string]string{"L": "a_b_L", "S": "a_b_S"}, ""},
		{"by alignment", multi, map[string]string{"a": m, "S": s, "b_s": l}, map[string]string{"M": "a", "S": "S", "L": "b_s"}, ""},
		{"a suffix that the sequence belies", multi, map[string]string{"a_L": s}, map[string]string{"L": "a_L"}, `"a_L" could not be aligned`},
		{"twice the same segment", multi, map[string]string{"a_S": s, "b": s, "c_M": m}, map[string]string{"M": "c_M"}, `2 sequences for segment S, but may have only one: "a_S", "b"`},
		{"no segment", multi, map[string]string{"a": zika, "b_S": s}, map[string]string{"S": "b_S"}, `"a" could not be aligned with any of the segments L, M, S`},
		{"turned", multi, map[string]string{"a": reverseComplement(s)}, map[string]string{}, `"a" could not be aligned: it aligns with segment S as its reverse complement`},
		{"a bad one beside a good one", multi, map[string]string{"a_S": s, "b_M": "ACGT*"}, map[string]string{"S": "a_S"}, `"*"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := tt.pipeline.Process(t.Context(), entryWith(tt.sequences))
			if diff := cmp.Diff(tt.segments, result.Data.SequenceNameToFastaID); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
			for segment, id := range tt.segments {
				if got := result.Data.UnalignedNucleotideSequences[segment]; got == nil || *got != tt.sequences[id] {
					t.Errorf("segment %s isn't the sequence %q", segment, id)
				}
			}
			if got := messages(result.Errors); (tt.error == "") != (got == "") || !strings.Contains(got, tt.error) {
				t.Errorf("errors %q, want %q", got, tt.error)
			}
			if problems, _ := tt.pipeline.organism.CheckProcessed(&result.Data); len(problems) > 0 && tt.error == "" {
				t.Errorf("invalid result: %v", problems)
			}
		})
	}
}

// reverseComplement turns a sequence of A, C, G and T.
func reverseComplement(s string) string {
	pairs := map[byte]byte{'A': 'T', 'C': 'G', 'G': 'C', 'T': 'A'}
	turned := make([]byte, 0, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		turned = append(turned, pairs[s[i]])
	}
	return string(turned)
}

// TestAlignKeepsWhatCannotBeAligned: the unaligned sequence stays, the error is on
// the segment and the FASTA id.
func TestAlignKeepsWhatCannotBeAligned(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	result := p.Process(t.Context(), entryWith(map[string]string{"a/1": strings.Repeat("n", 300)}))
	source := func(name string) []seqlease.Source {
		return []seqlease.Source{{Type: seqlease.NucleotideSequenceSource, Name: name}}
	}
	want := []seqlease.Annotation{{
		UnprocessedFields: source("a/1"), ProcessedFields: source("main"),
		Message: `The sequence "a/1" could not be aligned: it has no bases other than N.`,
	}}
	if diff := cmp.Diff(want, result.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	unaligned := strings.Repeat("N", 300)
	if diff := cmp.Diff(map[string]*string{"main": &unaligned}, result.Data.UnalignedNucleotideSequences); diff != "" {
		t.Errorf("unaligned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]*string{"main": nil}, result.Data.AlignedNucleotideSequences); diff != "" {
		t.Errorf("aligned (-want +got):\n%s", diff)
	}
}

// TestAlignWarnsOfRoughStretches: a stretch that is too unlike to search is kept,
// with a warning that says where.
func TestAlignWarnsOfRoughStretches(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	zika := p.organism.Segments[0].Sequence
	foreign := readReference(t, "ebola-sudan", "reference.fasta")[3000:5600]
	result := p.Process(t.Context(), entryWith(map[string]string{"a": zika[:4000] + foreign + zika[6600:]}))
	if got, want := messages(result.Warnings), "of segment main"; !strings.Contains(got, want) || len(result.Errors) > 0 {
		t.Errorf("warnings %q, errors %q, want a warning with %q", got, messages(result.Errors), want)
	}
}

func TestAlignOfNothingHasNoNull(t *testing.T) {
	t.Parallel()
	p, err := NewAlign(&organism.Organism{Key: "none", DisplayName: "None"})
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(p.Process(t.Context(), entryWith(nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"accession":"LOC_000001Y","version":1,"processingAttemptId":"00000000-0000-0000-0000-000000000000",` +
		`"data":{"metadata":{},"unalignedNucleotideSequences":{},"alignedNucleotideSequences":{},"nucleotideInsertions":{},` +
		`"alignedAminoAcidSequences":{},"aminoAcidInsertions":{},"sequenceNameToFastaId":{},"files":null},"errors":[],"warnings":[]}`
	if got := string(line); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAlignSurvivesAPanic: the entry that it happens on has one error and nothing
// else, without a stack; the next entry is processed.
func TestAlignSurvivesAPanic(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	zika := p.organism.Segments[0].Sequence
	index := p.references[0].index
	p.references[0].index = nil // the aligner can't do without
	result := p.Process(t.Context(), entryWith(map[string]string{"a": zika}))
	if got := messages(result.Errors); len(result.Errors) != 1 || !strings.Contains(got, "The pipeline failed on this entry") || strings.Contains(got, "goroutine") {
		t.Errorf("errors %q", got)
	}
	if len(result.Data.UnalignedNucleotideSequences) != 0 || result.Accession != "LOC_000001Y" {
		t.Errorf("result %+v", result)
	}
	p.references[0].index = index
	if next := p.Process(t.Context(), entryWith(map[string]string{"a": zika})); len(next.Errors) > 0 {
		t.Errorf("the next entry: %q", messages(next.Errors))
	}
}

func TestAlignStopsWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := p.Process(ctx, entryWith(map[string]string{"a": p.organism.Segments[0].Sequence}))
	if got := messages(result.Errors); !strings.Contains(got, "stopped before it had finished") {
		t.Errorf("errors %q", got)
	}
}

func TestNewAlignRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*organism.Organism{
		"has sequences but no reference": {Key: "x", ConsensusSequences: true},
		"segment main":                   {Key: "x", Segments: []organism.NamedSequence{{Name: "main", Sequence: strings.Repeat("A", align.MaxSequence+1)}}},
	} {
		if _, err := NewAlign(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	o := singleSegment(t, "zika")
	p := NewEcho(o)
	entry := entryWith(map[string]string{"a": "acgt"})
	entry.Data.Metadata = map[string]string{"country": "Brazil", "date": "2016-01-06"}
	result := p.Process(t.Context(), entry)
	sequence := "ACGT"
	want := newDraft(entry).Result
	want.Data.Metadata = map[string]json.RawMessage{
		"country": json.RawMessage(`"Brazil"`), "date": json.RawMessage(`"2016-01-06"`), "authors": json.RawMessage("null"),
	}
	want.Data.UnalignedNucleotideSequences["main"] = &sequence
	want.Data.SequenceNameToFastaID["main"] = "a"
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if problems, _ := o.CheckProcessed(&result.Data); len(problems) > 0 {
		t.Errorf("invalid result: %v", problems)
	}
	if several := NewEcho(cchf(t)).Process(t.Context(), entry); len(several.Data.UnalignedNucleotideSequences) != 0 || len(several.Errors) > 0 {
		t.Errorf("of several segments: %+v", several)
	}
}
