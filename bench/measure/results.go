package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Results are the samples of an experiment, by contender and round, and the bench
// that they were taken on.
type Results struct {
	*Bench

	samples map[string][]Sample
	pretend bool
}

// Pretend returns results in which every contender has every figure, for tests of
// which rows an experiment has.
func Pretend(b *Bench) *Results { return &Results{Bench: b, pretend: true} }

// Spread is a figure over the rounds: their median, or the worst of them.
type Spread struct {
	Figure, Low, High float64
	Rounds            int
	// Worst says that Figure isn't the median.
	Worst bool
}

// Longest is for what was longest in each round: the longest of all rounds. A median
// of maxima would leave out what it is asked for.
func (s Spread) Longest() Spread {
	s.Figure, s.Worst = s.High, true
	return s
}

// Of is a figure of a contender. It panics if the contender has no such figure,
// which is a mistake of the experiment.
func (r *Results) Of(contender, figure string) Spread {
	return spread(r.figures(contender, figure))
}

// Ratio is a figure of one contender to that of another one, taken within each
// round.
func (r *Results) Ratio(contender, to, figure string) Spread {
	above, below := r.figures(contender, figure), r.figures(to, figure)
	ratios := make([]float64, len(above))
	for i := range above {
		ratios[i] = above[i] / below[i]
	}
	return spread(ratios)
}

func (r *Results) figures(contender, figure string) []float64 {
	if r.pretend {
		return []float64{1}
	}
	samples := r.samples[contender]
	figures := make([]float64, 0, len(samples))
	for _, s := range samples {
		v, there := s[figure]
		if !there {
			panic(fmt.Sprintf("contender %q has no figure %q, only %s", contender, figure, s))
		}
		figures = append(figures, v)
	}
	if len(figures) == 0 {
		panic(fmt.Sprintf("no contender %q", contender))
	}
	return figures
}

// spread sorts the values. The median of an even number is the mean of the middle two.
func spread(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{Figure: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[0], High: sorted[n-1], Rounds: n}
}

// String lists the figures by name.
func (s Sample) String() string {
	parts := make([]string, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, name+" "+short(s[name]))
	}
	return strings.Join(parts, ", ")
}

// short is a number with three digits that count, or all before the point.
func short(v float64) string {
	switch size := math.Abs(v); {
	case v == math.Trunc(v) && size < 1e15, size >= 100:
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	case size >= 0.1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// Count is a number with commas, such as "1,000,000".
func Count(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
