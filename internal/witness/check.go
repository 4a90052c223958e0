package witness

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seqlease/seqlease"
)

// Options say what a history is held against.
type Options struct {
	Current   seqlease.PipelineVersion   // whose states people are shown
	Pipelines []seqlease.PipelineVersion // that every entry is processed by, the current one included
	Bounds    Bounds
	// Drained says that the last readings are of a time when all work was done.
	Drained bool
	// Timeout bounds the search at one place.
	Timeout time.Duration
}

// Check looks for an order of the calls at each place that the rules allow. It
// returns a description of each place that has none, and of each at which the
// search took too long, which proves nothing and counts as a fault all the same.
func Check(h History, o Options) []string {
	var violations []string
	model := porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, input, _ any) (bool, any) {
			after, ok := o.Bounds.step(s.(state), input.(*op))
			return ok, after
		},
	}
	for _, w := range watch(h, o) {
		result, info := porcupine.CheckOperationsVerbose(model, w.operations(), o.Timeout)
		switch result {
		case porcupine.Ok:
		case porcupine.Unknown:
			violations = append(violations, fmt.Sprintf("%s v%d: the search among %d calls took longer than %s: record fewer calls",
				w.place, w.place.Pipeline, len(w.ops), o.Timeout))
		default:
			violations = append(violations, w.explain(o.Bounds, longest(info)))
		}
	}
	return violations
}

// operations are the calls in the form of the search.
func (w *watched) operations() []porcupine.Operation {
	list := make([]porcupine.Operation, len(w.ops))
	for i, o := range w.ops {
		list[i] = porcupine.Operation{Input: o, Call: int64(o.event.Call), Return: int64(o.event.Return)}
		if o.unanswered || o.silent {
			list[i].Return = math.MaxInt64
		}
	}
	return list
}

// longest returns the most calls that could be put in order.
func longest(info porcupine.LinearizationInfo) []*op {
	var best []*op
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) <= len(best) {
				continue
			}
			best = best[:0]
			for _, o := range order {
				best = append(best, o.Input.(*op))
			}
		}
	}
	return best
}

// explained is how many calls before and after the fault are told.
const explained = 12

// explain tells where no order goes on: the last calls of the longest one, the
// state after it, and the calls of which none is possible.
func (w *watched) explain(b Bounds, order []*op) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s v%d: no order of the %d calls keeps the rules. The longest one ends with\n", w.place, w.place.Pipeline, len(w.ops))
	s := state{}
	for i, o := range order {
		s, _ = b.step(s, o)
		if i >= len(order)-explained {
			fmt.Fprintf(&text, "  %s\n", o)
		}
	}
	fmt.Fprintf(&text, "in state %+v\nand none of these may be next\n", s)
	told := 0
	for _, o := range w.ops {
		if !slices.Contains(order, o) && told < explained {
			told++
			fmt.Fprintf(&text, "  %s\n", o)
		}
	}
	return text.String()
}

// String describes the call as the place sees it.
func (o *op) String() string {
	text := fmt.Sprintf("%s #%d", o.event, o.attempt)
	switch o.kind {
	case Claim:
		text += fmt.Sprintf(" try %d tag %q at %d", o.try, o.tag, o.at)
	case Submit:
		text += fmt.Sprintf(" tag %q: %s", o.tag, o.answer)
	case Renew:
		text += fmt.Sprintf(" lost %t", o.lost)
	case Read:
		text += fmt.Sprintf(" status %q", o.status)
	case Create, Edit, Results, Released:
		text += fmt.Sprintf(" tag %q", o.tag)
	default:
	}
	return text + fmt.Sprintf(" in [%d %d]", o.from, o.to)
}
