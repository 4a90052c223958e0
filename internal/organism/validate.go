package organism

import (
	"github.com/seqlease/seqlease"
)

// CheckProcessed returns every breach of the rules for processed data, in the
// order of the protocol's table (M1 to A5). Sequences must be in capitals
// already. It doesn't change d and may be called concurrently.
func (o *Organism) CheckProcessed(d *seqlease.ProcessedData) []seqlease.Problem {
	c := check{organism: o, data: d}
	c.metadata()
	c.nucleotides()
	c.aminoAcids()
	return c.problems
}

// check collects the problems of processed data.
type check struct {
	organism *Organism
	data     *seqlease.ProcessedData
	problems []seqlease.Problem
}
