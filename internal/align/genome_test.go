package align

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// divergences are the rates of changes for each base of the planted-event tests.
var divergences = []float64{0.001, 0.01, 0.05, 0.1}

func TestAlignFindsPlantedEvents(t *testing.T) {
	t.Parallel()
	for i, rate := range divergences {
		t.Run(fmt.Sprintf("%g%%", 100*rate), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(i)))
			reference := randomBases(r, 30_000, "ACGT")
			part := func(from, to int) []byte { return mutated(r, reference[from:to], rate) }
			query := join(
				part(200, 5000), randomBases(r, 300, "ACGT"), // +300 after 5000
				part(5000, 10_000), part(10_382, 15_000), // −382
				part(16_200, 20_000), bytes.Repeat([]byte("N"), 1500), // −1200, 1500 N
				part(21_500, 29_600), // both ends missing
			)
			got, err := newAligner(t, reference).Align(query)
			if err != nil {
				t.Fatal(err)
			}
			checkEvents(t, got)
			if restore(got) != string(query) {
				t.Error("the query can't be restored")
			}
		})
	}
}

// checkEvents counts what is inserted, deleted and unknown about the planted
// events. Where it is cheaper, a few bases are aligned in the middle of an event.
func checkEvents(t *testing.T, got Alignment) {
	t.Helper()
	const around = 25 // changes beside an event move its borders and add to it
	inserted := 0
	for _, ins := range got.Insertions {
		if max(ins.Position-5000, 5000-ins.Position) <= around {
			inserted += len(ins.Sequence)
		}
	}
	for _, event := range []struct {
		name      string
		got, want int
	}{
		{"inserted after 5000", inserted, 300},
		{"missing at the start", count(got.Aligned, '-', 0, 200+around), 200},
		{"deleted after 10000", count(got.Aligned, '-', 10_000-around, 10_382+around), 382},
		{"deleted after 15000", count(got.Aligned, '-', 15_000-around, 16_200+around), 1200},
		{"unknown after 20000", count(got.Aligned, 'N', 20_000, 21_500), 1500},
		{"missing at the end", count(got.Aligned, '-', 29_600-around, 30_000), 400},
	} {
		if max(event.got-event.want, event.want-event.got) > around {
			t.Errorf("%d bases %s, want %d", event.got, event.name, event.want)
		}
	}
	if len(got.Inexact) > 0 {
		t.Errorf("inexact in %v", got.Inexact)
	}
}

func count(s []byte, letter byte, from, to int) int {
	return bytes.Count(s[from:to], []byte{letter})
}

func TestAlignAgreesWithTheFullTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	for round := range 30 {
		reference := randomBases(r, 900, "ACGT")
		from, to := 50+r.IntN(150), 600+r.IntN(250)
		const intact = 12 // bases at both ends: a changed end may be told in two ways
		query := join(
			reference[from:from+intact],
			mutated(r, reference[from+intact:to-intact], []float64{0.01, 0.05, 0.1}[round%3]),
			reference[to-intact:to])
		a := newAligner(t, reference)
		got, err := a.Align(query)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if want := gotohWithin(query, reference); got.Score != want {
			t.Errorf("round %d: score %d, want %d", round, got.Score, want)
		}
		if replayed, err := replay(a.ops, query, reference, free, free); err != nil || replayed != got.Score {
			t.Errorf("round %d: score %d, replayed %d, %v", round, got.Score, replayed, err)
		}
	}
}

// readFASTA reads the records of a file of ../../testdata, in capital letters.
func readFASTA(t testing.TB, path ...string) (ids []string, sequences [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", filepath.Join(path...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range strings.Split(string(text), ">")[1:] {
		header, lines, _ := strings.Cut(record, "\n")
		ids = append(ids, strings.Fields(header)[0])
		sequences = append(sequences, bytes.ToUpper([]byte(strings.ReplaceAll(lines, "\n", ""))))
	}
	return ids, sequences
}

// TestAlignDistantGenomes: genomes of one organism that differ from the reference
// in up to 29 % of their bases all align, at the segment that they are of.
func TestAlignDistantGenomes(t *testing.T) {
	t.Parallel()
	ids, sequences := readFASTA(t, "cchf", "sequences.fasta")
	aligned := 0
	for _, segment := range []string{"L", "M", "S"} {
		_, references := readFASTA(t, "cchf", "reference_"+segment+".fasta")
		a := newAligner(t, references[0])
		for i, id := range ids {
			if !strings.HasSuffix(id, "_"+segment) && i%8 > 0 {
				continue // every eighth of the other segments must do
			}
			got, err := a.Align(sequences[i])
			if own := strings.HasSuffix(id, "_"+segment); own != (err == nil) {
				t.Errorf("%s on %s: error %v", id, segment, err)
			}
			if err != nil {
				continue
			}
			aligned++
			if restore(got) != string(sequences[i]) {
				t.Errorf("%s can't be restored", id)
			}
			if len(got.Inexact) > 0 {
				t.Errorf("%s is inexact in %v", id, got.Inexact)
			}
		}
	}
	if want := 95; aligned != want {
		t.Errorf("%d genomes aligned, want %d", aligned, want)
	}
}
