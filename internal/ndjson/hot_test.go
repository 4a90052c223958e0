package ndjson_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/ndjson"
)

// The lines of a result of a 30 kb genome with aligned sequences and all genes, and of a
// claimed entry of a kilobyte, as long as they usually are.
var lengths = []struct {
	name   string
	length int
}{{"genome", 70_000}, {"short", 1_200}}

// document is a JSON document of the given length, nearly all of it sequence.
func document(length int) []byte {
	const head, tail = `{"main":"`, `"}`
	return []byte(head + strings.Repeat("ACGTTGCA", length/8+1)[:length-len(head)-len(tail)] + tail)
}

// BenchmarkReader reads a body of a hundred lines.
func BenchmarkReader(b *testing.B) {
	for _, l := range lengths {
		b.Run(l.name, func(b *testing.B) {
			body := bytes.Repeat(append(document(l.length), '\n'), 100)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				lines := ndjson.NewReader(bytes.NewReader(body), ndjson.DefaultLimit)
				for {
					if _, err := lines.Next(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkAppendLine(b *testing.B) {
	for _, l := range lengths {
		b.Run(l.name, func(b *testing.B) {
			document := document(l.length)
			var line []byte
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				line = ndjson.AppendLine(line[:0], document)
			}
		})
	}
}
