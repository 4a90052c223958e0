package stored

import (
	"github.com/seqlease/seqlease/bench/measure"
)

// Experiments are those of this package.
func Experiments() []measure.Experiment {
	contenders := []measure.Contender{
		contender("real SARS-CoV-2", realGenomes),
		contender("generated, 0.1 %", generated(0.001)),
		contender("generated, 1 %", generated(0.01)),
	}
	return []measure.Experiment{{Name: "stored-bytes", Rounds: 1, Contenders: contenders, Rows: func(r *measure.Results) []measure.Row {
		var rows []measure.Row
		for i, c := range contenders {
			what := c.Name + " genome"
			sequences := measure.Inform(what+": compressed sequences", r.Of(c.Name, sequencesFigure), "B", "unaligned, aligned and all genes together")
			if i == 0 {
				sequences = measure.Below(what+": compressed sequences", r.Of(c.Name, sequencesFigure), 600, 0, "B",
					"unaligned, aligned and all genes together; the genomes of testdata, aligned by the product's pipeline").Of(measure.StoredBytes)
			}
			rows = append(rows, sequences,
				measure.Inform(what+": compressed document of the result", r.Of(c.Name, resultFigure), "B", "the sequences with metadata, insertions and messages"),
				measure.Inform(what+": row of the result on disk", r.Of(c.Name, resultDisk), "B", "PostgreSQL, with indexes"),
				measure.Inform(what+": compressed document of the entry", r.Of(c.Name, entryFigure), "B", "as it was submitted"),
				measure.Inform(what+": row of the entry on disk", r.Of(c.Name, entryDisk), "B", "PostgreSQL, with indexes"),
			)
		}
		return rows
	}}}
}
