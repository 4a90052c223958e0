package measure

import (
	"context"
	"fmt"
)

// Sample is what one run of a contender showed: figures by name, such as "rate".
type Sample map[string]float64

// Rate is the name of the figure that most contenders have: entries per second.
const Rate = "rate"

// Contender does the work of an experiment in its way. Run prepares what it needs,
// does the work once, checks that all of it was done, and tidies up.
type Contender struct {
	Name string
	Run  func(ctx context.Context, b *Bench) (Sample, error)
}

// Experiment is a question whose answer is one or more rows.
type Experiment struct {
	Name string
	// Rounds is how often each contender runs at most; 0: as often as the bench is told.
	Rounds     int
	Contenders []Contender
	// Skip says why the experiment can't run here; nil or "": it can.
	Skip func(b *Bench) string
	// Rows reads the rows out of the samples of all rounds. Sizes in their names are
	// those of the bench that ran.
	Rows func(r *Results) []Row
}

// Run lets the contenders run in turn, and starts each round with another one.
func (e *Experiment) Run(ctx context.Context, b *Bench, rounds int) (*Results, error) {
	if e.Rounds > 0 {
		rounds = min(rounds, e.Rounds)
	}
	r := &Results{Bench: b, samples: map[string][]Sample{}}
	for round := range rounds {
		for i := range e.Contenders {
			c := e.Contenders[(i+round)%len(e.Contenders)]
			sample, err := c.Run(ctx, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %s, round %d: %w", e.Name, c.Name, round+1, err)
			}
			b.Tell("%s %d/%d  %s  %s", e.Name, round+1, rounds, c.Name, sample)
			r.samples[c.Name] = append(r.samples[c.Name], sample)
		}
	}
	return r, nil
}
