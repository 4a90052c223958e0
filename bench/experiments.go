package main

import (
	"slices"

	"github.com/seqlease/seqlease/bench/measure"
)

// experiments are all of them, in the order of the table.
func experiments() []measure.Experiment {
	return slices.Concat[[]measure.Experiment]()
}
