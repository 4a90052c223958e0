package organism

import (
	"github.com/seqlease/seqlease"
)

// CheckProcessed returns the breaches of the rules for processed data, in the
// order of the protocol's table (M1 to A5): the first [seqlease.MaxListedProblems],
// and how many more there are. Sequences must be in capitals already. It doesn't
// change d and may be called concurrently.
func (o *Organism) CheckProcessed(d *seqlease.ProcessedData) (problems []seqlease.Problem, more int) {
	c := check{organism: o, data: d}
	c.metadata(o.Metadata, d.Metadata)
	c.nucleotides()
	c.aminoAcids()
	return c.problems, c.more
}

// check collects the problems of processed data.
type check struct {
	organism *Organism
	data     *seqlease.ProcessedData
	problems []seqlease.Problem
	more     int
}
