package wire

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/client"
)

// idPrefix begins the submission ids; the number of the entry follows.
const idPrefix = "bench-"

// Upload is an upload of n entries, numbered from first, whose files are made while
// they are sent.
func Upload(o seqlease.Organism, group int64, samples []genome.Sample, first, n int) client.Submission {
	row := func(to []byte, i int) []byte {
		m := samples[i%len(samples)].Metadata
		return fmt.Appendf(to, "%s%d\t%s\t%s\t%s\n", idPrefix, i, m["date"], m["country"], m["division"])
	}
	record := func(to []byte, i int) []byte {
		to = append(strconv.AppendInt(append(append(to, '>'), idPrefix...), int64(i), 10), '\n')
		return append(append(to, samples[i%len(samples)].Sequence...), '\n')
	}
	metadata := io.MultiReader(strings.NewReader("id\tdate\tcountry\tdivision\n"), &lines{next: first, end: first + n, line: row})
	return client.Submission{
		Organism: o, GroupID: group,
		Metadata:  client.File{Name: "metadata.tsv", Content: metadata},
		Sequences: client.File{Name: "sequences.fasta", Content: &lines{next: first, end: first + n, line: record}},
	}
}

// lines makes the lines of a file as they are read.
type lines struct {
	next, end int
	line      func(to []byte, i int) []byte
	buffer    []byte
	unread    []byte
}

// linesAtOnce is about how many bytes are made at once.
const linesAtOnce = 32 << 10

// Read gives the lines that fit.
func (l *lines) Read(p []byte) (int, error) {
	if len(l.unread) == 0 {
		for l.buffer = l.buffer[:0]; l.next < l.end && len(l.buffer) < linesAtOnce; l.next++ {
			l.buffer = l.line(l.buffer, l.next)
		}
		l.unread = l.buffer
	}
	if len(l.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}
