package align

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// unlimited is a penalty that no alignment of the tests reaches.
const unlimited = 1 << 29

// gotoh computes the least penalty with a full table (Gotoh 1982), as the oracle
// of the fast ways.
func gotoh(query, reference []byte, end ending) int {
	n, m := len(query), len(reference)
	table := newGotohTable(m, false)
	least := table.best[m]
	for _, base := range query {
		table.add(base, reference)
		least = min(least, table.best[m]) // the reference is used up
	}
	if end == closed {
		return table.best[m]
	}
	for reach, penalty := range table.best {
		least = min(least, penalty+leftOverPenalty(n, m, reach))
	}
	return least
}

// leftOverPenalty is what reference bases cost that are left over nearer to the
// start than the query is long.
func leftOverPenalty(n, m, reach int) int { return GapExtendPenalty * max(0, min(n, m)-reach) }

// gotohWithin computes the least penalty of a query that lies within the
// reference, of which both ends are free.
func gotohWithin(query, reference []byte) int {
	table := newGotohTable(len(reference), true)
	for _, base := range query {
		table.add(base, reference)
	}
	return slices.Min(table.best)
}

// gotohTable has the row of the table for the query bases added so far: the least
// penalty at each reference position, in any way and ending in an insertion.
type gotohTable struct{ best, inserted []int }

func newGotohTable(length int, freeStart bool) *gotohTable {
	t := &gotohTable{best: make([]int, length+1), inserted: make([]int, length+1)}
	for i := range t.best {
		t.inserted[i] = unlimited
		if i > 0 && !freeStart {
			t.best[i] = GapOpenPenalty + i*GapExtendPenalty
		}
	}
	return t
}

func (t *gotohTable) add(base byte, reference []byte) {
	diagonal, deleted := t.best[0], unlimited
	for i := range t.best {
		t.inserted[i] = min(t.inserted[i]+GapExtendPenalty, t.best[i]+GapOpenPenalty+GapExtendPenalty)
		if i == 0 {
			t.best[0] = t.inserted[0]
			continue
		}
		deleted = min(deleted+GapExtendPenalty, t.best[i-1]+GapOpenPenalty+GapExtendPenalty)
		paired := diagonal
		if !agree(base, reference[i-1]) {
			paired += MismatchPenalty
		}
		diagonal = t.best[i]
		t.best[i] = min(paired, t.inserted[i], deleted)
	}
}

// replay walks the operations and returns their penalty, without what is left
// over at free ends. It is an error if they don't use up query and reference.
func replay(ops []operation, query, reference []byte, start, end ending) (penalty int, err error) {
	q, t := 0, 0
	for i := range ops {
		opens := i == 0 || ops[i-1] != ops[i]
		switch ops[i] {
		case pair:
			if q >= len(query) || t >= len(reference) {
				return 0, fmt.Errorf("operation %d pairs bases beyond the end", i)
			}
			if !agree(query[q], reference[t]) {
				penalty += MismatchPenalty
			}
			q, t = q+1, t+1
		case insertion:
			if hangs := start == free && t == 0 || end == free && t == len(reference); !hangs {
				penalty += gapPenalty(opens)
			}
			q++
		case deletion:
			if hangs := start == free && q == 0 || end == free && q == len(query); !hangs {
				penalty += gapPenalty(opens)
			}
			t++
		default:
			return 0, fmt.Errorf("operation %d is %q", i, ops[i])
		}
	}
	if q != len(query) || t != len(reference) {
		return 0, fmt.Errorf("used %d of %d query and %d of %d reference bases", q, len(query), t, len(reference))
	}
	return penalty, nil
}

// replayGap is replay from a closed start, with what is left over at a free end.
func replayGap(ops []operation, query, reference []byte, end ending) (penalty int, err error) {
	penalty, err = replay(ops, query, reference, closed, end)
	if end == free {
		trailing := 0
		for trailing < len(ops) && ops[len(ops)-1-trailing] == deletion {
			trailing++
		}
		penalty += leftOverPenalty(len(query), len(reference), len(reference)-trailing)
	}
	return penalty, err
}

func gapPenalty(opens bool) int {
	if opens {
		return GapOpenPenalty + GapExtendPenalty
	}
	return GapExtendPenalty
}

// randomBases draws bases of the given letters.
func randomBases(r *rand.Rand, n int, letters string) []byte {
	s := make([]byte, n)
	for i := range s {
		s[i] = letters[r.IntN(len(letters))]
	}
	return s
}

// mutated copies the reference with the given rate of changes for each base: nine
// in ten substitutions, one in ten an insertion or deletion of 1 to 12 bases.
func mutated(r *rand.Rand, reference []byte, rate float64) []byte {
	out := make([]byte, 0, len(reference)+len(reference)/8)
	for i := 0; i < len(reference); i++ {
		switch x := r.Float64() / rate; {
		case x < 0.9:
			other := randomBases(r, 1, "ACGT")[0]
			for other == reference[i] {
				other = randomBases(r, 1, "ACGT")[0]
			}
			out = append(out, other)
		case x < 0.95:
			out = append(out, randomBases(r, 1+r.IntN(12), "ACGT")...)
			out = append(out, reference[i])
		case x < 1:
			i += r.IntN(12)
		default:
			out = append(out, reference[i])
		}
	}
	return out
}

func TestGapAlignerFindsTheLeastPenalty(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	g := gapAligner{maxCells: maxGapCells}
	for round := range 3000 {
		letters := []string{"ACGT", "AC", "ACGTN", "A"}[round%4]
		reference := randomBases(r, r.IntN(60), letters)
		query := randomBases(r, r.IntN(60), letters)
		if round%3 > 0 { // related ones
			query = mutated(r, reference, []float64{0.05, 0.3}[round%2])
		}
		for _, end := range []ending{closed, free} {
			ops, exact := g.align(nil, query, reference, end)
			got, err := replayGap(ops, query, reference, end)
			if err != nil {
				t.Fatalf("round %d, end %d: %s on %s: %s: %v", round, end, query, reference, ops, err)
			}
			if want := gotoh(query, reference, end); got != want || !exact {
				t.Fatalf("round %d, end %d: %s on %s: %s has penalty %d (exact %v), want %d", round, end, query, reference, ops, got, exact, want)
			}
		}
	}
}

func TestGapAlignerFindsTheLeastPenaltyOfLongGaps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	g := gapAligner{maxCells: maxGapCells}
	for round := range 24 {
		reference := randomBases(r, 300+r.IntN(500), "ACGT")
		query := mutated(r, reference, []float64{0.02, 0.1, 0.3}[round%3])
		at, length := r.IntN(100), 50+r.IntN(150)
		if round%2 == 0 {
			query = append(append([]byte(nil), query[:at]...), query[min(at+length, len(query)):]...)
		} else {
			query = append(append(append([]byte(nil), query[:at]...), randomBases(r, length, "ACGT")...), query[at:]...)
		}
		for _, end := range []ending{closed, free} {
			ops, exact := g.align(nil, query, reference, end)
			got, err := replayGap(ops, query, reference, end)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if want := gotoh(query, reference, end); got != want || !exact {
				t.Errorf("round %d, end %d: penalty %d (exact %v), want %d", round, end, got, exact, want)
			}
		}
	}
}

func TestOneGapIsAValidAlignmentOfItsCost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		reference, query := randomBases(r, r.IntN(30), "ACGN"), randomBases(r, r.IntN(30), "ACGN")
		for _, end := range []ending{closed, free} {
			s := oneGap(query, reference, end)
			got, err := replayGap(s.appendTo(nil), query, reference, end)
			if want := unit * s.cost; err != nil || got != want {
				t.Fatalf("%s on %s, end %d: penalty %d, %v, want %d", query, reference, end, got, err, want)
			}
		}
	}
}
