package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

func TestAlignEveryGenome(t *testing.T) {
	t.Parallel()
	tests := []struct {
		organism  func(testing.TB) *organism.Organism
		folder    string
		entries   int
		sequences int
		// failing are the entries with an error, and what the error says.
		failing map[string]string
	}{
		{func(t testing.TB) *organism.Organism { return singleSegment(t, "zika") }, "zika", 45, 45, nil},
		{func(t testing.TB) *organism.Organism { return singleSegment(t, "zika-natal") }, "zika-natal", 70, 69, map[string]string{
			"OK573293.1": "it aligns as its reverse complement",
		}},
		{func(t testing.TB) *organism.Organism { return singleSegment(t, "ebola-zaire") }, "ebola-zaire", 20, 20, nil},
		{func(t testing.TB) *organism.Organism { return singleSegment(t, "ebola-sudan") }, "ebola-sudan", 11, 11, nil},
		{cchf, "cchf", 73, 95, nil},
	}
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			t.Parallel()
			p := newAlign(t, tt.organism(t))
			entries := readEntries(t, tt.folder)
			if len(entries) != tt.entries {
				t.Errorf("%d entries, want %d", len(entries), tt.entries)
			}
			aligned := 0
			for _, entry := range entries {
				result := process(t, p, entry)
				want, fails := tt.failing[entry.SubmissionID]
				if got := messages(result.Errors); fails != (got != "") || !strings.Contains(got, want) {
					t.Errorf("%s: errors %q, want %q", entry.SubmissionID, got, want)
				}
				for _, sequence := range result.Data.AlignedNucleotideSequences {
					if sequence != nil {
						aligned++
					}
				}
				checkUnaligned(t, entry, result)
			}
			if aligned != tt.sequences {
				t.Errorf("%d sequences aligned, want %d", aligned, tt.sequences)
			}
		})
	}
}

// checkUnaligned checks that every submitted sequence is in the result under the
// segment of its id, in capital letters, and found by its FASTA id.
func checkUnaligned(t *testing.T, entry seqlease.Entry, result seqlease.Result) {
	t.Helper()
	unaligned := result.Data.UnalignedNucleotideSequences
	if got, want := len(unaligned), len(entry.Data.UnalignedNucleotideSequences); got != want {
		t.Errorf("%s: %d unaligned sequences, want %d", entry.SubmissionID, got, want)
	}
	for segment, id := range result.Data.SequenceNameToFastaID {
		if segment != organism.MainSegment && !strings.HasSuffix(id, "_"+segment) {
			t.Errorf("%s: %q is segment %s", entry.SubmissionID, id, segment)
		}
		if got, want := unaligned[segment], strings.ToUpper(entry.Data.UnalignedNucleotideSequences[id]); got == nil || *got != want {
			t.Errorf("%s: the unaligned sequence of %s is not the submitted one", entry.SubmissionID, segment)
		}
	}
}

// TestAlignInsertionOfZika: the reference lacks a T in its 5' UTR, so that most
// genomes have one after position 61; it is written at that place in each.
func TestAlignInsertionOfZika(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	with, elsewhere := 0, 0
	for _, entry := range readEntries(t, "zika") {
		result := process(t, p, entry)
		for _, i := range result.Data.NucleotideInsertions[organism.MainSegment] {
			switch {
			case i == seqlease.Insertion{Position: 61, Sequence: "T"}:
				with++
			case i.Position > 0 && i.Position < 100:
				elsewhere++
			}
		}
	}
	if want := 36; with != want || elsewhere != 0 {
		t.Errorf("%d genomes have 61:T, want %d; %d have another insertion there, want none", with, want, elsewhere)
	}
}

// TestAlignEventsOfSARSCoV2: insertions and deletions that define lineages (of
// Omicron: BA.1, BA.2, JN.1) are all found at one and the same place.
func TestAlignEventsOfSARSCoV2(t *testing.T) {
	t.Parallel()
	o := singleSegment(t, "zika")
	o.Key, o.Segments[0].Sequence = "sars-cov-2", readReference(t, "sars-cov-2", "reference.fasta")
	p := newAlign(t, o)
	got := map[string]int{ // genomes with the event
		"22204:GAGCCAGAA": 0, "11288-11296": 0, "21633-21641": 0, "21765-21770": 0, "28362-28370": 0, "29734-29759": 0,
	}
	for _, entry := range readEntries(t, "sars-cov-2/nextclade-2024") {
		result := process(t, p, entry)
		if len(result.Errors) > 0 {
			t.Errorf("%s: %s", entry.SubmissionID, messages(result.Errors))
			continue
		}
		for _, i := range result.Data.NucleotideInsertions[organism.MainSegment] {
			count(got, i.String())
		}
		for _, d := range deletions(*result.Data.AlignedNucleotideSequences[organism.MainSegment]) {
			count(got, d)
		}
	}
	want := map[string]int{
		"22204:GAGCCAGAA": 4, "11288-11296": 58, "21633-21641": 44, "21765-21770": 18, "28362-28370": 43, "29734-29759": 28,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("genomes with each event (-want +got):\n%s", diff)
	}
}

// count counts the event if it is one of those that are looked for.
func count(events map[string]int, event string) {
	if _, ok := events[event]; ok {
		events[event]++
	}
}

// deletions lists the runs of '-' as "first-last", 1-based.
func deletions(aligned string) []string {
	var runs []string
	for i := 0; i < len(aligned); i++ {
		first := i
		for i < len(aligned) && aligned[i] == '-' {
			i++
		}
		if i > first {
			runs = append(runs, fmt.Sprintf("%d-%d", first+1, i))
		}
	}
	return runs
}

// TestAlignFindsSegmentsWithoutASuffix: a sequence whose id doesn't say so is
// found to be of the segment that it aligns with.
func TestAlignFindsSegmentsWithoutASuffix(t *testing.T) {
	t.Parallel()
	p := newAlign(t, cchf(t))
	for _, entry := range readEntries(t, "cchf")[:6] {
		named := process(t, p, entry)
		renamed := entry
		renamed.Data.UnalignedNucleotideSequences = map[string]string{}
		for id, sequence := range entry.Data.UnalignedNucleotideSequences {
			renamed.Data.UnalignedNucleotideSequences["contig-"+id+"-1"] = sequence
		}
		found := process(t, p, renamed)
		for segment, id := range named.Data.SequenceNameToFastaID {
			if got, want := found.Data.SequenceNameToFastaID[segment], "contig-"+id+"-1"; got != want {
				t.Errorf("%s: segment %s is %q, want %q", entry.SubmissionID, segment, got, want)
			}
			if got, want := found.Data.AlignedNucleotideSequences[segment], named.Data.AlignedNucleotideSequences[segment]; *got != *want {
				t.Errorf("%s: segment %s is aligned in another way", entry.SubmissionID, segment)
			}
		}
	}
}

// TestAlignConcurrently: results don't depend on what else is processed.
func TestAlignConcurrently(t *testing.T) {
	t.Parallel()
	p := newAlign(t, singleSegment(t, "zika"))
	entries := readEntries(t, "zika")
	var want []string
	for _, entry := range entries {
		want = append(want, *process(t, p, entry).Data.AlignedNucleotideSequences[organism.MainSegment])
	}
	got := make([]string, len(entries))
	var group errgroup.Group
	group.SetLimit(8)
	for i, entry := range entries {
		group.Go(func() error {
			got[i] = *p.Process(t.Context(), entry).Data.AlignedNucleotideSequences[organism.MainSegment]
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("concurrent results differ from those of one goroutine")
	}
}

func BenchmarkAlignZika(b *testing.B) {
	p := newAlign(b, singleSegment(b, "zika"))
	entries := readEntries(b, "zika")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Process(b.Context(), entries[i%len(entries)])
	}
}
