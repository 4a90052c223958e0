package seqcodec

import (
	"bytes"
	"testing"
)

func TestDocumentSize(t *testing.T) {
	t.Parallel()
	c := New()
	reference := Dictionary{ID: 1, Bytes: bytes.Repeat([]byte("ACGTTGCA"), 500)}
	for _, d := range []Dictionary{{}, reference} {
		for _, n := range []int{0, 1, 255, 256, 4000, 70_000, 3 << 20} {
			document := bytes.Repeat([]byte("A"), n)
			frame, err := c.Encode(d, document)
			if err != nil {
				t.Fatal(err)
			}
			got := DocumentSize(frame)
			if small := n < 256 && got == 255; got != int64(n) && !small {
				t.Errorf("dictionary %d: a document of %d bytes is said to have %d", d.ID, n, got)
			}
		}
	}
	if got := DocumentSize(nil); got != 0 {
		t.Errorf("no frame has %d bytes", got)
	}
	if got := DocumentSize([]byte("damaged")); got != MaxDocument {
		t.Errorf("a damaged frame is said to have %d bytes, want the most that there can be", got)
	}
}
