package align

import (
	"encoding/binary"
	"math/bits"
)

// maxGapCells bounds the memory of one search: 16 Mi cells are 64 MiB. Exact
// alignment of two unrelated stretches takes that from about 1,500 bases on; two
// that differ in 30 % of their bases, from about 4,000.
const maxGapCells = 16 << 20

// frontCells is what a wavefront takes beside its cells, in cells.
const frontCells = 22

// unreached marks a cell that no alignment of its cost reaches. It stays
// negative whatever is added to it on the way.
const unreached = int32(-1 << 29)

// wavefront has, for one cost and each diagonal lo to hi, how far in the
// reference an alignment of that cost reaches. A diagonal is the number of
// reference bases less the number of query bases used up. The slices are nil
// where no alignment has that cost.
type wavefront struct {
	lo, hi   int
	pairs    []int32 // ending in any way, pairs that agree included
	inserted []int32 // ending in an insertion
	deleted  []int32 // ending in a deletion
}

func (w *wavefront) at(cells []int32, diagonal int) int32 {
	if diagonal < w.lo || diagonal > w.hi || cells == nil {
		return unreached
	}
	return cells[diagonal-w.lo]
}

// gapAligner aligns two stretches exactly, by wavefronts of rising cost. Its
// memory is used again from call to call; it is for one goroutine at a time.
type gapAligner struct {
	maxCells  int
	query     []byte
	reference []byte
	end       ending
	fronts    []wavefront // by cost in units
	cells     cellArena
}

var noWavefront wavefront

func (g *gapAligner) front(cost int) *wavefront {
	if cost < 0 {
		return &noWavefront
	}
	return &g.fronts[cost]
}

// align appends the cheapest alignment of query and reference to ops. Where the
// search would take more than maxCells, it is the cheapest with at most one gap,
// and exact is false.
func (g *gapAligner) align(ops []operation, query, reference []byte, end ending) (_ []operation, exact bool) {
	bound := oneGap(query, reference, end)
	g.query, g.reference, g.end = query, reference, end
	g.fronts = g.fronts[:0]
	g.cells.reset()
	best := finish{total: bound.cost}
	for cost := 0; cost < best.total; cost++ { // nothing cheaper than the bound: the bound is the best
		if cost == 0 {
			start := g.cells.take(1)
			start[0] = 0
			g.fronts = append(g.fronts, wavefront{pairs: start})
		} else {
			g.fronts = append(g.fronts, g.next(cost, bound.cost))
		}
		g.slide(cost, &best)
		if g.cells.taken+frontCells*len(g.fronts) > g.maxCells {
			return bound.appendTo(ops), false
		}
	}
	if !best.found {
		return bound.appendTo(ops), true
	}
	return g.trace(ops, best.cost, best.diagonal), true
}

// finish is where the search has reached the end.
type finish struct {
	found          bool
	total          int // with what is left over
	cost, diagonal int
}

// next computes the wavefront of a cost from cheaper ones. Diagonals from which
// the end can't be reached for less than the bound are left out, so that one long
// gap takes memory by its surroundings, not by its length.
func (g *gapAligner) next(cost, bound int) wavefront {
	x, o, e := g.front(cost-mismatch), g.front(cost-open-extend), g.front(cost-extend)
	if x.pairs == nil && o.pairs == nil && e.inserted == nil {
		return wavefront{}
	}
	n, m := len(g.query), len(g.reference)
	lo, hi := m+1, -n-1
	if x.pairs != nil {
		lo, hi = x.lo, x.hi
	}
	if o.pairs != nil {
		lo, hi = min(lo, o.lo-1), max(hi, o.hi+1)
	}
	if e.inserted != nil {
		lo, hi = min(lo, e.lo-1), max(hi, e.hi+1)
	}
	lo, hi = max(lo, -n), min(hi, m)
	if g.end == closed {
		affordable := (bound - 1 - cost) / extend
		lo, hi = max(lo, m-n-affordable), min(hi, m-n+affordable)
	}
	if lo > hi {
		return wavefront{}
	}
	width := hi - lo + 1
	cells := g.cells.take(3 * width)
	w := wavefront{lo: lo, hi: hi, pairs: cells[:width:width], inserted: cells[width : 2*width : 2*width], deleted: cells[2*width:]}
	for i := range w.pairs {
		diagonal := lo + i
		ins := g.inside(max(o.at(o.pairs, diagonal+1), e.at(e.inserted, diagonal+1)), diagonal)
		del := g.inside(max(o.at(o.pairs, diagonal-1), e.at(e.deleted, diagonal-1))+1, diagonal)
		w.inserted[i], w.deleted[i] = ins, del
		w.pairs[i] = max(g.inside(x.at(x.pairs, diagonal)+1, diagonal), ins, del)
	}
	return w
}

// inside returns the reach if it lies within query and reference, else unreached.
func (g *gapAligner) inside(reach int32, diagonal int) int32 {
	if reach < 0 || int(reach) > len(g.reference) || int(reach)-diagonal > len(g.query) {
		return unreached
	}
	return reach
}

// slide lets every diagonal run on over bases that agree. Where one reaches the
// end for less than the best so far, or for as much on the way and nearer to the
// start's diagonal, it becomes the best.
func (g *gapAligner) slide(cost int, best *finish) {
	w := &g.fronts[cost]
	n, m := len(g.query), len(g.reference)
	for i, reach := range w.pairs {
		if reach < 0 {
			continue
		}
		t := int(reach)
		q := t - w.lo - i
		run := agreeing(g.query[q:], g.reference[t:])
		q, t = q+run, t+run
		w.pairs[i] = int32(t)
		if q < n && t < m || g.end == closed && q+t < n+m {
			continue
		}
		f := finish{found: true, total: cost, cost: cost, diagonal: w.lo + i}
		if g.end == free && q == n {
			f.total += leftOverCost(n, m, t)
		}
		nearer := f.cost == best.cost && max(f.diagonal, -f.diagonal) < max(best.diagonal, -best.diagonal)
		if f.total < best.total || best.found && f.total == best.total && nearer {
			*best = f
		}
	}
}

// agreeing counts the bases that agree from the start of both on.
func agreeing(a, b []byte) int {
	limit := min(len(a), len(b))
	for n := 0; ; {
		for n+8 <= limit {
			different := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:])
			if different != 0 {
				n += bits.TrailingZeros64(different) / 8
				break
			}
			n += 8
		}
		if n >= limit || !agree(a[n], b[n]) {
			return n
		}
		n++
	}
}

// trace appends the alignment that reached the end at that cost and diagonal. It
// finds its way back by computing again what each cell came from.
func (g *gapAligner) trace(ops []operation, cost, diagonal int) []operation {
	first := len(ops)
	w := g.front(cost)
	reach := w.at(w.pairs, diagonal)
	ops = repeat(ops, deletion, len(g.reference)-int(reach)) // of a free end
	ops = repeat(ops, insertion, len(g.query)-(int(reach)-diagonal))
	for state := pair; cost > 0 || reach > 0 || state != pair; {
		w = g.front(cost)
		e := g.front(cost - extend)
		switch state {
		case pair:
			x := g.front(cost - mismatch)
			substituted := g.inside(x.at(x.pairs, diagonal)+1, diagonal)
			from := max(substituted, w.at(w.inserted, diagonal), w.at(w.deleted, diagonal), 0)
			ops = repeat(ops, pair, int(reach-from))
			reach = from
			switch {
			case cost == 0: // the start: from is 0
			case substituted == from:
				ops = append(ops, pair)
				reach--
				cost -= mismatch
			case w.at(w.deleted, diagonal) == from:
				state = deletion
			default:
				state = insertion
			}
		case insertion:
			ops = append(ops, insertion)
			diagonal++
			if e.at(e.inserted, diagonal) == reach {
				cost -= extend
			} else {
				cost -= open + extend
				state = pair
			}
		case deletion:
			ops = append(ops, deletion)
			diagonal--
			reach--
			if e.at(e.deleted, diagonal) == reach {
				cost -= extend
			} else {
				cost -= open + extend
				state = pair
			}
		}
	}
	reverse(ops[first:])
	return ops
}

// cellArena hands out cells from chunks that are used again after reset.
type cellArena struct {
	chunks [][]int32
	chunk  int // index of the chunk in use
	used   int // cells of it that are handed out
	taken  int // cells handed out since reset
}

// chunkCells holds several wavefronts: they widen by two diagonals for each unit
// of cost, so that maxGapCells are used up before one takes 14,000 cells.
const chunkCells = 1 << 16

func (a *cellArena) reset() { a.chunk, a.used, a.taken = 0, 0, 0 }

// take returns n cells with arbitrary content.
func (a *cellArena) take(n int) []int32 {
	a.taken += n
	for a.chunk < len(a.chunks) && a.used+n > len(a.chunks[a.chunk]) {
		a.chunk, a.used = a.chunk+1, 0
	}
	if a.chunk == len(a.chunks) {
		a.chunks = append(a.chunks, make([]int32, max(n, chunkCells)))
	}
	cells := a.chunks[a.chunk][a.used : a.used+n : a.used+n]
	a.used += n
	return cells
}
