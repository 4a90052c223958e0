package seqcodec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"
)

// bases returns random bases, the same for the same seed.
func bases(length int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, length)
	for i := range b {
		b[i] = "ACGT"[random.IntN(4)]
	}
	return b
}

func encode(t testing.TB, c *Codec, d Dictionary, document []byte) []byte {
	t.Helper()
	frame, err := c.Encode(d, document)
	if err != nil {
		t.Fatalf("encode %d bytes with dictionary %d: %v", len(document), d.ID, err)
	}
	return frame
}

// wantDecoded checks that the frame gives the document.
func wantDecoded(t testing.TB, c *Codec, d Dictionary, frame, document []byte) {
	t.Helper()
	got, err := c.Decode(d, frame)
	if err != nil {
		t.Errorf("decode with dictionary %d: %v", d.ID, err)
		return
	}
	if !bytes.Equal(got, document) {
		t.Errorf("decoded %d bytes that differ from the document of %d bytes", len(got), len(document))
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	reference := bases(3000, 1)
	for _, c := range []struct {
		name       string
		dictionary []byte
		document   []byte
	}{
		{"no dictionary", nil, []byte(`{"metadata":{}}`)},
		{"empty document", reference, nil},
		{"empty document without dictionary", nil, nil},
		{"the reference itself", reference, reference},
		{"nothing in common", reference, bytes.Repeat([]byte("xyz\x00\xff"), 2000)},
		{"larger than the window of its dictionary", reference, bases(300_000, 2)},
		{"dictionary of one byte", []byte("A"), []byte("ACGT")},
		{"dictionary of seven bytes", []byte("ACGTACG"), []byte("ACGTACGTT")},
		{"dictionary larger than the largest window", bases(9<<20, 3), bases(1000, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			codec, d := New(), Dictionary{ID: 1, Bytes: c.dictionary}
			wantDecoded(t, codec, d, encode(t, codec, d, c.document), c.document)
			wantDecoded(t, New(), d, encode(t, codec, d, c.document), c.document)
		})
	}
}

func TestRoundTripOfAnyDocument(t *testing.T) {
	t.Parallel()
	codec := New()
	reference := Dictionary{ID: 7, Bytes: bases(2000, 4)}
	rapid.Check(t, func(t *rapid.T) {
		// Pieces of the reference between pieces of anything, as genomes in JSON are.
		var document []byte
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			from := rapid.IntRange(0, len(reference.Bytes)).Draw(t, "from")
			to := rapid.IntRange(from, len(reference.Bytes)).Draw(t, "to")
			document = append(document, reference.Bytes[from:to]...)
			document = append(document, rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "other")...)
		}
		for _, d := range []Dictionary{reference, {}} {
			frame, err := codec.Encode(d, document)
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			got, err := codec.Decode(d, frame)
			if err != nil || !bytes.Equal(got, document) {
				t.Fatalf("dictionary %d: got %d bytes and error %v, want the document of %d bytes", d.ID, len(got), err, len(document))
			}
		}
	})
}

func TestSameDocumentGivesSameBytes(t *testing.T) {
	t.Parallel()
	d := Dictionary{ID: 1, Bytes: bases(5000, 5)}
	document := append(bases(700, 6), d.Bytes[1000:4000]...)
	used := New()
	for i := range 20 { // so that the encoder has a past
		encode(t, used, d, bases(100*i, uint64(i)))
	}
	if diff := cmp.Diff(encode(t, New(), d, document), encode(t, used, d, document)); diff != "" {
		t.Errorf("frames differ (-fresh codec +used codec):\n%s", diff)
	}
}

func TestDictionaryShrinksWhatResemblesIt(t *testing.T) {
	t.Parallel()
	codec, d := New(), Dictionary{ID: 1, Bytes: bases(30_000, 7)}
	document := bytes.Clone(d.Bytes)
	document[1000], document[20_000] = 'N', 'N'
	with, without := encode(t, codec, d, document), encode(t, codec, Dictionary{}, document)
	if got, want := len(with), 100; got > want {
		t.Errorf("got %d bytes, want at most %d", got, want)
	}
	if got, want := len(without), 7000; got < want { // two bits for each base
		t.Errorf("got %d bytes without a dictionary, want at least %d: is the dictionary used regardless?", got, want)
	}
}

func TestWrongDictionaryIsAnError(t *testing.T) {
	t.Parallel()
	codec := New()
	right, wrong := Dictionary{ID: 1, Bytes: bases(3000, 8)}, Dictionary{ID: 2, Bytes: bases(3000, 9)}
	frame := encode(t, codec, right, right.Bytes)
	for name, d := range map[string]Dictionary{
		"another": wrong, "none": {}, "a shorter one": {ID: 3, Bytes: right.Bytes[:1000]},
		"one base changed": {ID: 4, Bytes: append([]byte("N"), right.Bytes[1:]...)},
	} {
		if got, err := codec.Decode(d, frame); err == nil {
			t.Errorf("%s: got %d bytes, want an error", name, len(got))
		}
	}
	wantDecoded(t, codec, right, frame, right.Bytes)
}

func TestDamagedFrameIsAnError(t *testing.T) {
	t.Parallel()
	codec, d := New(), Dictionary{ID: 1, Bytes: bases(3000, 10)}
	document := append(bases(400, 11), d.Bytes[500:2500]...)
	frame := encode(t, codec, d, document)
	for i := range frame {
		damaged := bytes.Clone(frame)
		damaged[i] ^= 0x55
		if got, err := codec.Decode(d, damaged); err == nil && !bytes.Equal(got, document) {
			t.Errorf("byte %d damaged: got another document of %d bytes, want an error", i, len(got))
		}
		if got, err := codec.Decode(d, frame[:i]); err == nil && i > 0 {
			t.Errorf("cut after %d of %d bytes: got a document of %d bytes, want an error", i, len(frame), len(got))
		}
	}
	for _, other := range []string{"plain text", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd"} {
		if got, err := codec.Decode(d, []byte(other)); err == nil {
			t.Errorf("%q: got a document of %d bytes, want an error", other, len(got))
		}
	}
	wantDecoded(t, codec, d, frame, document) // the decoder survives what it was given
}

func TestDocumentOverTheLimitIsAnError(t *testing.T) {
	t.Parallel()
	codec, d := New(), Dictionary{ID: 1, Bytes: bases(1000, 12)}
	document := make([]byte, MaxDocument+1)
	largest := encode(t, codec, d, document[:MaxDocument])
	wantDecoded(t, codec, d, largest, document[:MaxDocument])
	frame := encode(t, codec, d, document)
	if got, err := codec.Decode(d, frame); err == nil {
		t.Errorf("a frame of %d bytes gave a document of %d bytes, want an error over %d", len(frame), len(got), MaxDocument)
	}
	if got, err := codec.Decode(d, append(largest, frame...)); err == nil {
		t.Errorf("two frames gave a document of %d bytes, want an error over %d", len(got), MaxDocument)
	}
}

func TestManyDictionariesAtOnce(t *testing.T) {
	t.Parallel()
	codec := New()
	var group errgroup.Group
	for g := range 16 {
		group.Go(func() error {
			for i := range 10 {
				id := 1 + (g+i)%(2*maxDictionaries) // more than are kept
				d := Dictionary{ID: int64(id), Bytes: bases(500+id, uint64(id))}
				document := fmt.Appendf(bytes.Clone(d.Bytes), "genome %d of %d", i, g)
				frame, err := codec.Encode(d, document)
				if err != nil {
					return err
				}
				got, err := codec.Decode(d, frame)
				if err != nil {
					return err
				}
				if !bytes.Equal(got, document) {
					return fmt.Errorf("dictionary %d: the document came back changed", id)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if got, want := len(codec.byID), maxDictionaries; got != want || codec.recent.Len() != want {
		t.Errorf("%d dictionaries are kept in the map and %d in the list, want %d", got, codec.recent.Len(), want)
	}
}

func TestRecentlyUsedDictionariesAreKept(t *testing.T) {
	t.Parallel()
	codec := New()
	for id := range int64(maxDictionaries) {
		encode(t, codec, Dictionary{ID: id}, []byte("A"))
	}
	encode(t, codec, Dictionary{ID: 0}, []byte("A")) // used again
	encode(t, codec, Dictionary{ID: maxDictionaries}, []byte("A"))
	for id, want := range map[int64]bool{0: true, 1: false, 2: true, maxDictionaries: true} {
		if _, got := codec.byID[id]; got != want {
			t.Errorf("dictionary %d is kept: %t, want %t", id, got, want)
		}
	}
}

func TestWindowSize(t *testing.T) {
	t.Parallel()
	for dictionary, want := range map[int]int{
		0: 64 << 10, 1: 64 << 10, 32 << 10: 64 << 10, 32<<10 + 1: 128 << 10, 30_000: 64 << 10, 4 << 20: 8 << 20, 9 << 20: 8 << 20,
	} {
		if got := windowSize(dictionary); got != want {
			t.Errorf("dictionary of %d bytes: got a window of %d, want %d", dictionary, got, want)
		}
	}
}
