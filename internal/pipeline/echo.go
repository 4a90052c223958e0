package pipeline

import (
	"context"
	"maps"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// Echo is the pipeline that gives back what it is given, as far as the schema has
// a place for it: the metadata that it knows, and the sequence of an organism with
// a single segment, unaligned. It is for trying out the queue. It may be used
// concurrently.
type Echo struct {
	organism *organism.Organism
}

// NewEcho returns an echo for the organism.
func NewEcho(o *organism.Organism) *Echo { return &Echo{organism: o} }

// Process makes the result of an entry.
func (p *Echo) Process(_ context.Context, entry seqlease.Entry) seqlease.Result {
	return guarded(entry, func(d *draft) {
		d.readMetadata(p.organism, entry.Data.Metadata)
		submitted := entry.Data.UnalignedNucleotideSequences
		if len(p.organism.Segments) != 1 || len(submitted) != 1 {
			return
		}
		id := slices.Collect(maps.Keys(submitted))[0]
		if sequence, ok := d.readSequence(id, submitted[id]); ok {
			segment := p.organism.Segments[0].Name
			d.Data.UnalignedNucleotideSequences[segment] = &sequence
			d.Data.SequenceNameToFastaID[segment] = id
		}
	})
}
