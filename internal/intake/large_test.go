package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestCheck_AsksBeforeItTakesMuchMemory has uploads of every kind that need more
// than usual, and their neighbours that don't (B094).
func TestCheck_AsksBeforeItTakesMuchMemory(t *testing.T) {
	t.Parallel()
	const much = 1<<20 + 1<<19
	letters := strings.Repeat("A", much)
	cell := strings.Repeat("x", 1<<19)
	wide := "id\ta\tb\tc\td\n" + "a\t" + cell + "\t" + cell + "\t" + cell
	full := errors.New("no room")
	for _, tt := range []struct {
		name, table, sequences string
		asks                   bool
	}{
		{"small", twoRows, ">a\nACGT\n>b\nAC\n", false},
		{"a long sequence", twoRows, ">a\n" + letters + "\n>b\nAC\n", true},
		{"a long sequence in short lines", twoRows, ">a\n" + strings.Repeat(letters[:80]+"\n", much/80) + ">b\nAC\n", true},
		{"many sequences of one entry", "id\tfastaIds\tv\na\tx y z\tv\n", ">x\n" + letters[:much/3] + "\n>y\n" + letters[:much/3] + "\n>z\n" + letters[:much/3] + "\n", true},
		{"as many of different entries", "id\tv\nx\tv\ny\tv\nz\tv\n", ">x\n" + letters[:much/3] + "\n>y\n" + letters[:much/3] + "\n>z\n" + letters[:much/3] + "\n", false},
		{"a long row", wide + "\tx\n", ">a\nAC\n", true},
		{"a long row in quotes", wide + "\t\"x\ny\"\n", ">a\nAC\n", true},
	} {
		for _, failure := range []error{nil, full} {
			asked := 0
			checked, err := check(t, Request{
				Organism: zika(t), Metadata: written("m.tsv", tt.table), Sequences: written("s.fasta", tt.sequences),
				Large: func(context.Context) error { asked++; return failure },
			})
			want := failure
			if !tt.asks {
				want = nil
			}
			if (asked == 1) != tt.asks || asked > 1 || !errors.Is(err, want) || (checked == nil) != (want != nil) {
				t.Errorf("%s: asked %d times, want to ask: %v; error %v, want %v", tt.name, asked, tt.asks, err, want)
			}
		}
	}
}

func TestCheck_AsksForMemoryForManyRowsAndSequences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows, each int
		asks       bool
	}{{largeCount, 1, false}, {largeCount + 1, 1, true}, {largeCount/10 + 1, 10, true}} {
		asked := 0
		_, err := check(t, Request{
			Organism: zika(t), Large: func(context.Context) error { asked++; return nil },
			Metadata: generated("m.tsv", "id\tv\tfastaIds\n", tt.rows, func(i int) string {
				var ids strings.Builder
				for j := range tt.each {
					fmt.Fprintf(&ids, " s%d", i*tt.each+j)
				}
				return fmt.Sprintf("e%d\tx\t%s\n", i, ids.String())
			}),
			Sequences: generated("s.fasta", "", tt.rows*tt.each, func(i int) string { return fmt.Sprintf(">s%d\nA\n", i) }),
		})
		if err != nil || (asked == 1) != tt.asks || asked > 1 {
			t.Errorf("%d rows with %d sequences each: asked %d times, error %v; want to ask: %v", tt.rows, tt.each, asked, err, tt.asks)
		}
	}
}
