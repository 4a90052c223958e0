package align

// The penalties: a pair of different bases, the opening of a gap and each base in
// it, the first included. They are those of the usual affine default of read
// aligners for close sequences. All are even, so that the code counts in halves.
const (
	MismatchPenalty  = 4
	GapOpenPenalty   = 6
	GapExtendPenalty = 2
)

// unit is the common divisor of the penalties; costs inside this package are in units.
const (
	unit     = 2
	mismatch = MismatchPenalty / unit
	open     = GapOpenPenalty / unit
	extend   = GapExtendPenalty / unit
)

// operation is one column of an alignment.
type operation byte

const (
	pair      operation = 'M' // a base of the query on a base of the reference, equal or not
	insertion operation = 'I' // a base of the query alone
	deletion  operation = 'D' // a base of the reference alone
)

// agree says whether two bases are no mismatch: equal, or one of them N.
func agree(a, b byte) bool { return a == b || a == 'N' || b == 'N' }

// ending says what an alignment must reach.
type ending int

const (
	// closed: the end of both query and reference.
	closed ending = iota
	// free: the end of either. What is left of the query costs nothing, nor what is
	// left of the reference beyond the length of the query. Reference bases that are
	// nearer cost an extension each (leftOverCost): else it would often be cheapest to
	// insert a whole end of the query that is hard to align.
	free
)

// leftOverCost is the cost of a free end where n query bases are used up and so
// are reach of m reference bases.
func leftOverCost(n, m, reach int) int { return extend * max(0, min(n, m)-reach) }

// simple is an alignment with at most one gap, which is found in linear time. It
// bounds the search for the best one, and stands in where the search is too dear.
type simple struct {
	cost      int // in units
	pairs     int // before the gap
	inserted  int
	deleted   int
	morePairs int // after the gap
	leftOver  int // reference bases after the end of the query
}

// oneGap returns the cheapest alignment with at most one gap.
func oneGap(query, reference []byte, end ending) simple {
	n, m := len(query), len(reference)
	if end == free {
		return clipped(query, reference)
	}
	s := simple{inserted: max(0, n-m), deleted: max(0, m-n)}
	both := min(n, m)
	cost := gapCost(s.inserted + s.deleted)
	for i := range both { // all pairs after the gap
		if !agree(query[n-both+i], reference[m-both+i]) {
			cost += mismatch
		}
	}
	s.cost = cost
	for i := range both { // move pair i to before the gap
		if !agree(query[n-both+i], reference[m-both+i]) {
			cost -= mismatch
		}
		if !agree(query[i], reference[i]) {
			cost += mismatch
		}
		if cost <= s.cost { // the last of equals; leftNormalise moves it back
			s.cost, s.pairs = cost, i+1
		}
	}
	s.morePairs = both - s.pairs
	return s
}

// clipped pairs bases from the start on and inserts the rest of the query, which
// costs nothing after the end of the reference.
func clipped(query, reference []byte) simple {
	n, m := len(query), len(reference)
	if m == 0 {
		return simple{inserted: n}
	}
	s := simple{cost: gapCost(n) + leftOverCost(n, m, 0), inserted: n, leftOver: m}
	cost := 0
	for i := range min(n, m) {
		if !agree(query[i], reference[i]) {
			cost += mismatch
		}
		total := cost
		if i+1 < m {
			total += gapCost(n-i-1) + leftOverCost(n, m, i+1)
		}
		if total <= s.cost {
			s = simple{cost: total, pairs: i + 1, inserted: n - i - 1, leftOver: m - i - 1}
		}
	}
	return s
}

func gapCost(bases int) int {
	if bases == 0 {
		return 0
	}
	return open + extend*bases
}

// appendTo writes the alignment down.
func (s simple) appendTo(ops []operation) []operation {
	ops = repeat(ops, pair, s.pairs)
	ops = repeat(ops, insertion, s.inserted)
	ops = repeat(ops, deletion, s.deleted)
	ops = repeat(ops, pair, s.morePairs)
	return repeat(ops, deletion, s.leftOver)
}

func repeat(ops []operation, op operation, n int) []operation {
	for range n {
		ops = append(ops, op)
	}
	return ops
}
