package queue

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seqlease/seqlease"
)

// TestEncode_PlainSequencesMakeTheSameDocument takes sequences out of documents that it
// knows the whole of.
func TestEncode_PlainSequencesMakeTheSameDocument(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-zé"\\ ]{0,4}`)
	letters := rapid.StringMatching(`[ACGTN*-]{0,9}`)
	length := rapid.IntRange(0, 3*longSequence)
	sequence := rapid.Ptr(rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("x"+letters.Draw(t, "letters"), 3*longSequence)[:length.Draw(t, "length")]
	}), true)
	rapid.Check(t, func(rt *rapid.T) {
		r := &seqlease.Result{Data: seqlease.ProcessedData{
			UnalignedNucleotideSequences: rapid.MapOfN(name, sequence, 0, 3).Draw(rt, "unaligned"),
			AlignedNucleotideSequences:   rapid.MapOfN(name, sequence, 0, 3).Draw(rt, "aligned"),
			AlignedAminoAcidSequences:    rapid.MapOfN(name, sequence, 0, 15).Draw(rt, "genes"),
			SequenceNameToFastaID:        rapid.MapOfN(name, name, 0, 3).Draw(rt, "ids"),
		}}
		want, err := encode([]byte("before"), r, false)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := encode([]byte("before"), r, true)
		if err != nil {
			rt.Fatal(err)
		}
		if string(got) != string(want) {
			rt.Fatalf("got %s, want %s", got, want)
		}
	})
}
