package align

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// edits draws a query that was made from the reference by a few edits, so that
// most of them align.
func edits(t *rapid.T, reference []byte) []byte {
	query := bytes.Clone(reference)
	for range rapid.IntRange(0, 12).Draw(t, "edits") {
		if len(query) == 0 {
			break
		}
		at := rapid.IntRange(0, len(query)-1).Draw(t, "at")
		length := min(rapid.IntRange(1, 80).Draw(t, "length"), len(query)-at)
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0: // a deletion
			query = join(query[:at], query[at+length:])
		case 1: // an insertion
			query = join(query[:at], bases(length, "ACGTRYN").Draw(t, "inserted"), query[at:])
		case 2: // unknown bases
			query = join(query[:at], bytes.Repeat([]byte("N"), length), query[at+length:])
		case 3: // a copy
			query = join(query[:at+length], query[at:])
		default: // one base
			query[at] = bases(1, "ACGTRYN").Draw(t, "base")[0]
		}
	}
	return query
}

func bases(length int, letters string) *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.SampledFrom([]byte(letters)), length, length)
}

// checkAlignment checks what holds for every alignment.
func checkAlignment(t interface{ Errorf(string, ...any) }, a *Aligner, query []byte, al Alignment) {
	reference := a.index.reference
	if len(al.Aligned) != len(reference) {
		t.Errorf("aligned has %d positions, the reference %d", len(al.Aligned), len(reference))
	}
	if restored := restore(al); restored != string(query) {
		t.Errorf("restored %q, want %q", restored, query)
	}
	penalty, err := replay(a.ops, query, reference, free, free)
	if err != nil || penalty != al.Score {
		t.Errorf("score %d, replayed %d, %v", al.Score, penalty, err)
	}
	covered, matches := 0, 0
	for i, base := range al.Aligned {
		if base != '-' {
			covered++
		}
		if base != 'N' && base == reference[i] {
			matches++
		}
	}
	if covered != al.Covered || matches != al.Matches {
		t.Errorf("covered %d, matches %d, counted %d and %d", al.Covered, al.Matches, covered, matches)
	}
}

func TestAlignProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		reference := bases(rapid.IntRange(60, 600).Draw(t, "length"), rapid.SampledFrom([]string{"ACGT", "ACGTN"}).Draw(t, "letters")).Draw(t, "reference")
		query := edits(t, reference)
		ix, err := NewIndex(reference)
		if err != nil {
			t.Fatal(err)
		}
		a := NewAligner(ix)
		al, err := a.Align(query)
		if err != nil {
			if !errors.Is(err, ErrCannotAlign) {
				t.Fatalf("error %v", err)
			}
			return
		}
		checkAlignment(t, a, query, al)
	})
}

func FuzzAlign(f *testing.F) {
	f.Add([]byte("ACGTACGATTACAGATTACACCGTAGGGTATCAGACTACGAGACTACTATATATTTTAGGCAGC"), []byte("ACGTACGATTACAGATTACACCGTAGGGTATCAGACTACGAGACTACTATATATTTTAGGCAGC"))
	f.Add([]byte("TTTTTTTTTT"), bytes.Repeat([]byte("T"), 100))
	f.Add([]byte{0, 255, '-'}, []byte("-----NNNN-----"))
	f.Fuzz(func(t *testing.T, reference, query []byte) {
		ix, err := NewIndex(reference)
		if err != nil {
			return
		}
		query = bytes.ReplaceAll(query, []byte("-"), nil) // the caller takes it out
		a := NewAligner(ix)
		if al, err := a.Align(query); err == nil {
			checkAlignment(t, a, query, al)
		}
	})
}
