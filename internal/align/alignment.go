package align

import "bytes"

// Alignment is a query set against the reference. To take the '-' out of Aligned
// and put the insertions back in gives the query.
type Alignment struct {
	// Aligned has exactly the length of the reference: the query's base at every
	// reference position, '-' where it has none (deletions, and the ends that it
	// doesn't cover).
	Aligned []byte
	// Insertions in the order of their positions, at most one at each.
	Insertions []Insertion
	// Score is the sum of the penalties, 0 for a query that equals the reference
	// where both have bases. What is beyond the ends of either costs nothing.
	Score int
	// Matches counts reference positions with the same base, Mismatches those with
	// another base. A position where either has N counts as neither.
	Matches, Mismatches int
	// Covered counts the reference positions that have a base of the query, N included.
	Covered int
	// Inexact lists stretches of the reference that differ so much that the best
	// alignment was out of reach and one with a single gap stands in. Nil for
	// most genomes.
	Inexact []Range
}

// Insertion is what the query has and the reference lacks.
type Insertion struct {
	Position int // 1-based reference position that it follows, 0 before the first
	Sequence string
}

// Range is a stretch of reference positions, 1-based and inclusive.
type Range struct{ First, Last int }

// read makes the alignment from the operations.
func (a *Aligner) read(query []byte) Alignment {
	reference := a.index.reference
	al := Alignment{Aligned: bytes.Repeat([]byte{'-'}, len(reference)), Inexact: append([]Range(nil), a.inexact...)}
	q, t := 0, 0
	for i := 0; i < len(a.ops); {
		run := runLength(a.ops, i)
		switch a.ops[i] {
		case pair:
			copy(al.Aligned[t:], query[q:q+run])
			al.count(query[q:q+run], reference[t:t+run])
			q, t = q+run, t+run
		case insertion:
			al.Insertions = append(al.Insertions, Insertion{Position: t, Sequence: string(query[q : q+run])})
			if t > 0 && t < len(reference) {
				al.Score += unit * gapCost(run)
			}
			q += run
		case deletion:
			if q > 0 && q < len(query) {
				al.Score += unit * gapCost(run)
			}
			t += run
		}
		i += run
	}
	return al
}

func (al *Alignment) count(query, reference []byte) {
	al.Covered += len(query)
	for i, base := range query {
		switch {
		case base == 'N' || reference[i] == 'N':
		case base == reference[i]:
			al.Matches++
		default:
			al.Mismatches++
			al.Score += MismatchPenalty
		}
	}
}

// runLength counts the equal operations from i on.
func runLength(ops []operation, i int) int {
	n := 1
	for i+n < len(ops) && ops[i+n] == ops[i] {
		n++
	}
	return n
}

// leftNormalise moves every insertion and deletion as far to the left as it goes
// at no cost, so that the same event in a repeat is always written at the same
// position. Gaps that meet become one. What hangs over the reference stays there.
func leftNormalise(ops []operation, query, reference []byte) {
	q, t := 0, 0
	for i := 0; i < len(ops); {
		run := runLength(ops, i)
		switch ops[i] {
		case pair:
			q, t = q+run, t+run
		case insertion:
			if t < len(reference) {
				moveLeft(ops, i, run, q, t, query, reference)
			}
			q += run
		case deletion:
			if q > 0 && q < len(query) { // the ends are no deletions
				moveLeft(ops, i, run, q, t, query, reference)
			}
			t += run
		}
		i += run
	}
}

// moveLeft moves the gap ops[i:i+n], before which q query and t reference bases
// are used up.
func moveLeft(ops []operation, i, n, q, t int, query, reference []byte) {
	gap := ops[i]
	for i > 0 && ops[i-1] == pair {
		last, onto := q-1, t-1 // the pair that is opened, and what replaces it
		newQuery, newReference := last, onto+n
		if gap == insertion {
			newQuery, newReference = last+n, onto
		}
		if !asGood(query[last], reference[onto], query[newQuery], reference[newReference]) {
			return
		}
		ops[i-1], ops[i+n-1] = gap, pair
		i, q, t = i-1, q-1, t-1
		for i > 0 && ops[i-1] == gap { // it meets another gap of its kind
			i--
			n++
			if gap == insertion {
				q--
			} else {
				t--
			}
		}
	}
}

// asGood says whether a pair that agrees may be replaced by another: one that
// agrees too, and that is no N in place of equal bases.
func asGood(oldQuery, oldReference, newQuery, newReference byte) bool {
	if oldQuery == oldReference && oldQuery != 'N' {
		return newQuery == newReference
	}
	return agree(oldQuery, oldReference) && agree(newQuery, newReference)
}
