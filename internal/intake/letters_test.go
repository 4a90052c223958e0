package intake

import (
	"bytes"
	"strings"
	"testing"
)

// Packed letters come back as they were, whichever there are and however many.
func TestLettersComeBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, alphabet string
		kind           byte
	}{
		{"nucleotides", "ACGT", inTwoBits},
		{"with ambiguous ones", "ACGTNR-YKMSWacgt", inFourBits},
		{"any letters", "ACGTXacgtnx.?*-", inWholeBytes},
	} {
		for n := range 70 {
			letters := []byte(strings.Repeat(c.alphabet, 20))[:n]
			packed := packLetters([]byte("before"), letters)[len("before"):]
			if n >= len(c.alphabet) && packed[0] != c.kind {
				t.Errorf("%s: %d letters are packed as %d, want %d", c.name, n, packed[0], c.kind)
			}
			got, err := unpackLetters([]byte("before"), packed)
			if err != nil || string(got) != "before"+string(letters) {
				t.Errorf("%s: got %q, %v, want %q", c.name, got, err, letters)
			}
		}
	}
}

// Packed letters that were cut or have more bytes than letters are damage.
func TestDamagedLetters(t *testing.T) {
	t.Parallel()
	for _, alphabet := range []string{"ACGT", "ACGTN", "ACGTX"} {
		packed := packLetters(nil, []byte(strings.Repeat(alphabet, 20)))
		for n := range packed {
			if got, err := unpackLetters(nil, packed[:n]); err == nil {
				t.Errorf("%d of %d bytes gave %q", n, len(packed), got)
			}
		}
		if got, err := unpackLetters(nil, append(bytes.Clone(packed), 0, 0, 0, 0)); err == nil {
			t.Errorf("too many bytes gave %q", got)
		}
	}
	if got, err := unpackLetters(nil, []byte{77, 4, 0}); err == nil {
		t.Errorf("an unknown kind gave %q", got)
	}
}

func FuzzLetters(f *testing.F) {
	f.Add([]byte("ACGT"))
	f.Add([]byte("ACGNacgt-"))
	f.Add([]byte(">x?"))
	f.Fuzz(func(t *testing.T, letters []byte) {
		letters = letters[:min(len(letters), maxShort)]
		got, err := unpackLetters(nil, packLetters(nil, letters))
		if err != nil || !bytes.Equal(got, letters) {
			t.Errorf("got %q, %v, want %q", got, err, letters)
		}
		_, _ = unpackLetters(nil, letters) // must not crash
	})
}
