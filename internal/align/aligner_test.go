package align

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newAligner(t testing.TB, reference []byte) *Aligner {
	t.Helper()
	ix, err := NewIndex(reference)
	if err != nil {
		t.Fatal(err)
	}
	return NewAligner(ix)
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// restore takes the '-' out of the aligned sequence and puts the insertions back.
func restore(al Alignment) string {
	var b strings.Builder
	rest := al.Insertions
	for position := 0; position <= len(al.Aligned); position++ {
		if position > 0 && al.Aligned[position-1] != '-' {
			b.WriteByte(al.Aligned[position-1])
		}
		if len(rest) > 0 && rest[0].Position == position {
			b.WriteString(rest[0].Sequence)
			rest = rest[1:]
		}
	}
	return b.String()
}

func TestAlign(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	left, right := randomBases(r, 300, "ACGT"), randomBases(r, 300, "ACGT")
	left[299], right[0] = 'C', 'C' // the ends of what stands between them
	insert := []byte("GATTACAGATTACA")
	dashes := func(n int) []byte { return bytes.Repeat([]byte{'-'}, n) }
	unknown := bytes.Repeat([]byte{'N'}, 150)
	tests := []struct {
		name             string
		reference, query []byte
		want             Alignment
	}{
		{
			"the reference itself",
			left, left,
			Alignment{Aligned: left, Matches: 300, Covered: 300},
		},
		{
			"a part of it costs nothing",
			join(left, right), left[100:200],
			Alignment{Aligned: join(dashes(100), left[100:200], dashes(400)), Matches: 100, Covered: 100},
		},
		{
			"what hangs over is an insertion at 0 and at the reference's length",
			left, join(insert, left, insert),
			Alignment{
				Aligned: left, Matches: 300, Covered: 300,
				Insertions: []Insertion{{0, string(insert)}, {300, string(insert)}},
			},
		},
		{
			"unknown bases that hang over stay where they are",
			left, join(unknown, left[50:250], unknown),
			Alignment{
				Aligned: join(unknown[:50], left[50:250], unknown[:50]), Matches: 200, Covered: 300,
				Insertions: []Insertion{{0, string(unknown[:100])}, {300, string(unknown[:100])}},
			},
		},
		{
			"an insertion in a run of one base is written as far left as it goes",
			join(left, []byte("TTTT"), right), join(left, []byte("TTTTTT"), right),
			Alignment{
				Aligned: join(left, []byte("TTTT"), right), Matches: 604, Covered: 604,
				Insertions: []Insertion{{300, "TT"}}, Score: 10,
			},
		},
		{
			"a deletion in a repeat is written as far left as it goes",
			join(left, []byte("TATATATA"), right), join(left, []byte("TATA"), right),
			Alignment{Aligned: join(left, []byte("----TATA"), right), Matches: 604, Covered: 604, Score: 14},
		},
		{
			"N counts as neither, another code as a mismatch unless it is the same",
			join(left, []byte("RA"), right), join(left[:200], unknown[:20], left[220:], []byte("RY"), right),
			Alignment{
				Aligned: join(left[:200], unknown[:20], left[220:], []byte("RY"), right),
				Matches: 581, Mismatches: 1, Covered: 602, Score: 4,
			},
		},
		{
			"a run of N of another length than the reference has one gap beside it",
			join(left, right), join(left[:200], unknown, right[30:]),
			Alignment{
				Aligned: join(left[:200], unknown[:100], unknown[:30], right[30:]),
				Matches: 470, Covered: 600, Score: 46, Insertions: []Insertion{{200, string(unknown[:20])}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newAligner(t, tt.reference).Align(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("alignment (-want +got):\n%s", diff)
			}
			if restored := restore(got); restored != string(tt.query) {
				t.Errorf("restored %s, want %s", restored, tt.query)
			}
		})
	}
}

func TestAlignRefusesWithReason(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	reference, other := randomBases(r, 10_000, "ACGT"), randomBases(r, 30_000, "ACGT")
	tests := []struct {
		name   string
		query  []byte
		reason Reason
		says   string
	}{
		{"nothing", nil, NoBases, "no bases other than N"},
		{"only N", bytes.Repeat([]byte("N"), 1500), NoBases, "no bases other than N"},
		{"five bases", reference[:5], TooShort, "5 known bases"},
		{"49 bases between N", join(reference[:49], bytes.Repeat([]byte("N"), 300)), TooShort, "49 known bases"},
		{"another organism", other[:1500], TooFewAnchors, "too little in common"},
		{"another organism, thrice as long", other, TooFewAnchors, "too little in common"},
		{"a genome far longer than the reference", randomBases(r, 197_221, "ACGT"), TooLong, "197221 bases"},
		{"three million bases of one letter", bytes.Repeat([]byte("A"), 3_000_000), TooLong, "3000000 bases"},
		{"the reverse complement", appendReverseComplement(nil, reference), ReverseComplement, "aligns as its reverse complement"},
		{"the reverse complement of a part", appendReverseComplement(nil, reference[3000:3600]), ReverseComplement, "aligns as its reverse complement"},
		{"half of another organism", join(reference[:3000], other[:4000]), LowIdentity, "too little in common"},
		{"twice the same genome", join(reference, reference), LowIdentity, "too little in common"},
	}
	a := newAligner(t, reference)
	a.gap.maxCells = 1 << 20 // enough here, and sooner given up
	for _, tt := range tests {
		_, err := a.Align(tt.query)
		var fault *CannotAlignError
		if !errors.As(err, &fault) || !errors.Is(err, ErrCannotAlign) {
			t.Errorf("%s: error %v, want a CannotAlignError", tt.name, err)
			continue
		}
		if fault.Reason != tt.reason || !strings.Contains(fault.Error(), tt.says) {
			t.Errorf("%s: reason %s, %q, want %s, %q", tt.name, fault.Reason, fault, tt.reason, tt.says)
		}
	}
	if _, err := a.Align(reference); err != nil { // what was refused leaves nothing behind
		t.Error(err)
	}
}

func TestAlignReportsStretchesBeyondTheSearch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	reference := randomBases(r, 12_000, "ACGT")
	query := join(reference[:4000], randomBases(r, 2500, "ACGT"), reference[6500:])
	a := newAligner(t, reference)
	a.gap.maxCells = 4 << 20
	got, err := a.Align(query)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Inexact) != 1 || got.Inexact[0].First < 3950 || got.Inexact[0].Last > 6550 {
		t.Errorf("inexact %v, want one range about 4001 to 6500", got.Inexact)
	}
	if restore(got) != string(query) {
		t.Error("the query can't be restored")
	}
	if got, limit := len(a.gap.cells.chunks)*chunkCells, a.gap.maxCells*5/4; got > limit {
		t.Errorf("holds %d cells, want at most %d", got, limit)
	}
	if again, err := a.Align(reference); err != nil || again.Inexact != nil {
		t.Errorf("the next query: inexact %v, %v", again.Inexact, err)
	}
}

func TestNewIndexRefusesLengthsOutOfBounds(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, MaxSequence + 1} {
		if _, err := NewIndex(make([]byte, length)); err == nil {
			t.Errorf("%d bases are accepted", length)
		}
	}
}

func TestMaxQuery(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{100: 10_200, 10_769: 31_538, 6 << 20: MaxSequence} {
		if got := maxQuery(length); got != want {
			t.Errorf("reference of %d bases: %d, want %d", length, got, want)
		}
	}
}
