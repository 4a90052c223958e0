package pipeline

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/align"
	"github.com/seqlease/seqlease/internal/organism"
)

// Align is the pipeline that types metadata and aligns sequences. Genes are not
// translated: the maps of amino acids stay empty. It may be used concurrently.
type Align struct {
	organism   *organism.Organism
	references []*reference // in the order of the segments
}

// NewAlign prepares the references of the organism. It is an error if the
// organism has sequences but no reference, or one that is too long to align with.
func NewAlign(o *organism.Organism) (*Align, error) {
	p := &Align{organism: o}
	if o.ConsensusSequences && len(o.Segments) == 0 {
		return nil, fmt.Errorf("align pipeline of %s: the organism has sequences but no reference genome", o.Key)
	}
	for _, s := range o.Segments {
		r, err := newReference(s)
		if err != nil {
			return nil, fmt.Errorf("align pipeline of %s: %w", o.Key, err)
		}
		p.references = append(p.references, r)
	}
	return p, nil
}

// Process makes the result of an entry. It never fails as a whole: what is wrong
// is an error on the entry, a panic included. When ctx ends, it stops early, and
// the result says so.
func (p *Align) Process(ctx context.Context, entry seqlease.Entry) seqlease.Result {
	return guarded(entry, func(d *draft) {
		d.readMetadata(p.organism, entry.Data.Metadata)
		for _, s := range p.place(d, entry.Data.UnalignedNucleotideSequences) {
			if err := ctx.Err(); err != nil {
				d.fail(subject{}, "The pipeline was stopped before it had finished this entry: %v.", err)
				return
			}
			d.align(s)
		}
	})
}

// guarded runs work on a draft for the entry. If it panics, the result is one
// error and nothing else.
func guarded(entry seqlease.Entry, work func(*draft)) (result seqlease.Result) {
	defer func() {
		if fault := recover(); fault != nil {
			d := newDraft(entry)
			d.fail(subject{}, "The pipeline failed on this entry: %v. Please report this to the operator.", fault)
			result = d.Result
		}
	}()
	d := newDraft(entry)
	work(d)
	return d.Result
}

// align sets a sequence against its reference and keeps both forms. One that
// can't be aligned is an error; its unaligned form is kept.
func (d *draft) align(s placed) {
	segment := s.alignTo.segment
	d.Data.UnalignedNucleotideSequences[segment] = &s.sequence
	d.Data.SequenceNameToFastaID[segment] = s.fastaID
	if s.aligned == nil {
		alignment, err := s.alignTo.align(s.sequence)
		if err != nil {
			d.Data.AlignedNucleotideSequences[segment] = nil
			d.fail(records(s.fastaID).of(segment), "The sequence %q %v.", s.fastaID, err)
			return
		}
		s.aligned = &alignment
	}
	aligned := string(s.aligned.Aligned)
	d.Data.AlignedNucleotideSequences[segment] = &aligned
	d.Data.NucleotideInsertions[segment] = insertions(s.aligned)
	for _, stretch := range s.aligned.Inexact {
		d.warn(records(s.fastaID).of(segment),
			"The sequence %q differs so much from reference positions %d to %d of segment %s that the best alignment there was not searched for; what is shown is a rough one.",
			s.fastaID, stretch.First, stretch.Last, segment)
	}
}

func insertions(a *align.Alignment) []seqlease.Insertion {
	list := make([]seqlease.Insertion, 0, len(a.Insertions))
	for _, i := range a.Insertions {
		list = append(list, seqlease.Insertion{Position: int64(i.Position), Sequence: i.Sequence})
	}
	return list
}
