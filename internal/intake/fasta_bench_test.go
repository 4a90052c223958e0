package intake

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seqlease/seqlease"
)

// BenchmarkFASTA reads real genomes, in lines of 80 letters as they came and in one
// line each.
func BenchmarkFASTA(b *testing.B) {
	const n = 1000
	_, folded := genomes(b, n)
	var whole bytes.Buffer
	for _, record := range bytes.Split(folded, []byte(">"))[1:] {
		header, letters, _ := bytes.Cut(record, []byte("\n"))
		whole.WriteString(">" + string(header) + "\n")
		whole.Write(bytes.ReplaceAll(letters, []byte("\n"), nil))
		whole.WriteString("\n")
	}
	for _, form := range []struct {
		name string
		text []byte
	}{{"folded", folded}, {"whole", whole.Bytes()}} {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.text)))
			b.ReportAllocs()
			for b.Loop() {
				t, err := newText("sequence file", bytes.NewReader(form.text), func() error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				records := &fasta{text: t, limits: Limits{}.orDefaults(), report: func(p seqlease.Problem) { b.Error(p) }}
				read := 0
				for ; ; read++ {
					if _, err := records.next(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
				if read != n {
					b.Fatalf("read %d records, want %d", read, n)
				}
			}
		})
	}
}
