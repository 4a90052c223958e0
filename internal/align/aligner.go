package align

import (
	"math"
	"slices"
)

// The least that a query must have to be aligned.
const (
	// MinBases is how many bases other than ambiguity codes it needs.
	MinBases = 50
	// MinIdentity is the share of its known bases that must equal the reference.
	// Unrelated sequences reach 0.48 to 0.56 under these penalties; the most distant
	// parts of one organism that were seen (start of CCHF segment M) have 0.61.
	MinIdentity = 0.6
)

const (
	// goodChainShare: a chain that scores less than this part of the query's known
	// bases is looked for with shorter words too. They make the gaps shorter: CCHF
	// genomes take a third of the time at 4 that they take at 10, and score the same.
	goodChainShare = 4
	// anchorEdge is how many bases an anchor gives up at each end, so that a gap
	// beside it may move; at most a third of the anchor.
	anchorEdge = 5
)

// Aligner aligns queries to the reference of an index. It keeps its memory from
// one query to the next (up to 80 MiB after a query with long stretches
// unlike the reference). It is for one goroutine at a time.
type Aligner struct {
	index   *Index
	gap     gapAligner
	chains  chainer
	anchors []anchor
	ops     []operation
	inexact []Range

	turned                           []byte // the query's reverse complement
	backwardQuery, backwardReference []byte // a free start
}

// NewAligner returns an aligner for the index.
func NewAligner(ix *Index) *Aligner {
	return &Aligner{index: ix, gap: gapAligner{maxCells: maxGapCells}}
}

// Align sets the query, in capital letters without '-', against the reference.
// What either has beyond the ends of the other costs nothing, so that a single
// gene aligns where it belongs; the query's is an insertion at 0 or at the
// reference's length, so that nothing of it is lost. N agrees with every base,
// any other ambiguity code with itself only. The query is never turned: one that
// aligns as its reverse complement is refused. The error is a [*CannotAlignError].
func (a *Aligner) Align(query []byte) (Alignment, error) {
	known, err := a.check(query)
	if err != nil {
		return Alignment{}, err
	}
	score := a.anchor(query, known)
	al, fault := a.alignAnchored(query, known, score)
	if fault == nil {
		return al, nil
	}
	a.turned = appendReverseComplement(a.turned[:0], query)
	if turned := a.anchor(a.turned, known); turned > score {
		if _, err := a.alignAnchored(a.turned, known, turned); err == nil {
			return Alignment{}, cannotAlign(ReverseComplement,
				"it aligns as its reverse complement; submit it in the direction of the reference")
		}
	}
	return Alignment{}, fault
}

// alignAnchored aligns the query with the anchors that were found for it.
func (a *Aligner) alignAnchored(query []byte, known, score int) (Alignment, error) {
	if score < chanceScore(len(query), a.index.Length()) {
		return Alignment{}, cannotAlign(TooFewAnchors, "it has too little in common with the reference")
	}
	a.fill(query)
	leftNormalise(a.ops, query, a.index.reference)
	al := a.read(query)
	if identity := float64(al.Matches) / float64(known); identity < MinIdentity {
		return Alignment{}, cannotAlign(LowIdentity, "it has too little in common with the reference: only %.1f %% of its bases equal it, at least %.0f %% must",
			100*identity, 100*MinIdentity)
	}
	return al, nil
}

// check counts the known bases and refuses what needs no alignment to be refused.
func (a *Aligner) check(query []byte) (known int, err error) {
	if limit := a.index.MaxQuery(); len(query) > limit {
		return 0, cannotAlign(TooLong, "it has %d bases, more than the %d that are tried for a reference of %d bases",
			len(query), limit, a.index.Length())
	}
	unknown := 0
	for _, base := range query {
		if baseCode[base] != noBase {
			known++
		} else if base == 'N' {
			unknown++
		}
	}
	switch {
	case unknown == len(query):
		return 0, cannotAlign(NoBases, "it has no bases other than N")
	case known < MinBases:
		return 0, cannotAlign(TooShort, "it has only %d known bases, at least %d are needed", known, MinBases)
	}
	return known, nil
}

// anchor finds the anchors of the query with the longest words that give a good
// chain, and returns the chain's score.
func (a *Aligner) anchor(query []byte, known int) (score int) {
	a.anchors = a.anchors[:0]
	for i := range a.index.words {
		c := a.chains.find(&a.index.words[i], query)
		if c.score > score {
			score = c.score
			a.anchors = append(a.anchors[:0], c.anchors...)
		}
		if score > 0 && score >= known/goodChainShare {
			break
		}
	}
	return score
}

// chanceScore is the least score of a chain that is worth an alignment. Chains
// of chance grow with the number n·m/4⁹ of words of 9 bases that unrelated genomes
// share: they score 12 to 37 for pairs of 1,500 to 19,000 and 11,000 bases. The
// identity decides in the end; this saves the work for most of what is unrelated.
func chanceScore(n, m int) int {
	shared := float64(n) * float64(m) / (1 << 18)
	return 9 + max(9, int(1.5*math.Sqrt(shared)))
}

// fill writes the alignment down: the anchors, and between them what the gap
// aligner finds.
func (a *Aligner) fill(query []byte) {
	a.ops, a.inexact = a.ops[:0], a.inexact[:0]
	q, t := 0, 0 // what is aligned already
	started := false
	for _, b := range a.anchors {
		b = b.trimmed(q, t, len(query))
		if b.n <= 0 {
			continue
		}
		if started {
			a.fillGap(query[q:b.q], t, b.t, closed)
		} else {
			a.fillStart(query[:b.q], b.t)
			started = true
		}
		a.ops = repeat(a.ops, pair, b.n)
		q, t = b.q+b.n, b.t+b.n
	}
	a.fillGap(query[q:], t, len(a.index.reference), free)
}

// trimmed cuts the anchor's edges and what lies before q and t, which are aligned
// already. Nothing is cut at the very ends of the query.
func (b anchor) trimmed(q, t, queryLength int) anchor {
	edge := min(anchorEdge, b.n/3)
	cut := max(0, q-b.q, t-b.t)
	if b.q > 0 {
		cut = max(cut, edge)
	}
	end := b.n
	if b.q+b.n < queryLength {
		end -= edge
	}
	return anchor{q: b.q + cut, t: b.t + cut, n: end - cut}
}

// fillStart aligns the query's start with what is before reference base t
// (0-based). Both are read backwards, so that the free start is a free end.
func (a *Aligner) fillStart(query []byte, t int) {
	a.backwardQuery = appendReverse(a.backwardQuery[:0], query)
	a.backwardReference = appendReverse(a.backwardReference[:0], a.index.reference[:t])
	first := len(a.ops)
	ops, exact := a.gap.align(a.ops, a.backwardQuery, a.backwardReference, free)
	reverse(ops[first:])
	a.ops = ops
	a.note(exact, 0, t)
}

// fillGap aligns the query to the reference bases from (0-based) to to.
func (a *Aligner) fillGap(query []byte, from, to int, end ending) {
	ops, exact := a.gap.align(a.ops, query, a.index.reference[from:to], end)
	a.ops = ops
	a.note(exact, from, to)
}

// note keeps the stretch that was not aligned exactly.
func (a *Aligner) note(exact bool, from, to int) {
	if !exact {
		a.inexact = append(a.inexact, Range{First: from + 1, Last: to})
	}
}

func appendReverse(to, s []byte) []byte {
	to = append(to, s...)
	slices.Reverse(to[len(to)-len(s):])
	return to
}

// complement has the complement of every nucleotide code; anything else is its own.
var complement = func() (c [256]byte) {
	for i := range c {
		c[i] = byte(i)
	}
	for i, code := range []byte("ACGTMRWSYKVHDBN") {
		c[code] = "TGCAKYWSRMBDHVN"[i]
	}
	return c
}()

func appendReverseComplement(to, s []byte) []byte {
	first := len(to)
	to = appendReverse(to, s)
	for i := first; i < len(to); i++ {
		to[i] = complement[to[i]]
	}
	return to
}
