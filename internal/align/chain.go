package align

import "math/bits"

// anchor is a run of equal bases: n of them from query[q] and reference[t] on.
type anchor struct{ q, t, n int }

func (b anchor) diagonal() int { return b.t - b.q }

// chainReach is how many anchors back the chain may reach over anchors that it
// leaves out. Chance anchors lie between the true ones only at the shortest word
// length, two or three for each true one.
const chainReach = 100

// chain is the best sequence of anchors that run forward in query and reference.
type chain struct {
	anchors []anchor
	score   int // matched bases less the cost of the changes of diagonal
}

// chainer finds chains. Its buffers are used again from call to call.
type chainer struct {
	found  []anchor
	score  []int
	before []int
	best   []anchor
}

// find returns the best chain of anchors whose words are in the table. The chain
// is valid until the next call.
func (c *chainer) find(table *wordTable, query []byte) chain {
	c.collect(table, query)
	c.score = resize(c.score, len(c.found))
	c.before = resize(c.before, len(c.found))
	last := -1
	for i := range c.found {
		c.link(i, table.k)
		if last < 0 || c.score[i] > c.score[last] {
			last = i
		}
	}
	if last < 0 {
		return chain{}
	}
	c.best = c.best[:0]
	for i := last; i >= 0; i = c.before[i] {
		c.best = append(c.best, c.found[i])
	}
	reverse(c.best)
	return chain{anchors: c.best, score: c.score[last]}
}

// collect gathers the words that query and reference share, in the order of the
// query, and joins those that overlap on one diagonal.
func (c *chainer) collect(table *wordTable, query []byte) {
	c.found = c.found[:0]
	for q, word := range words(query, table.k) {
		position, found := table.find(word)
		if !found {
			continue
		}
		t := int(position)
		if n := len(c.found); n > 0 {
			if b := &c.found[n-1]; b.diagonal() == t-q && q <= b.q+b.n {
				b.n = q + table.k - b.q
				continue
			}
		}
		c.found = append(c.found, anchor{q: q, t: t, n: table.k})
	}
}

// link finds the best chain that ends with anchor i.
func (c *chainer) link(i, k int) {
	b := c.found[i]
	c.score[i], c.before[i] = b.n, -1
	for j := i - 1; j >= max(0, i-chainReach); j-- {
		p := c.found[j]
		overlap := max(0, p.q+p.n-b.q, p.t+p.n-b.t)
		if p.t >= b.t || overlap >= b.n {
			continue
		}
		score := c.score[j] + b.n - overlap - diagonalCost(b.diagonal()-p.diagonal(), k)
		if score > c.score[i] {
			c.score[i], c.before[i] = score, j
		}
	}
}

// diagonalCost is what a chain pays for an indel. It is more than a single word
// brings, so that one chance word never draws the chain away.
func diagonalCost(difference, k int) int {
	if difference == 0 {
		return 0
	}
	return k + bits.Len(uint(max(difference, -difference)))/2
}

func resize(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	return s[:n]
}

func reverse[E any](s []E) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}
