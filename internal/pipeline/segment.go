package pipeline

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/seqlease/seqlease/internal/align"
	"github.com/seqlease/seqlease/internal/organism"
)

// placed is a submitted sequence with the segment that it is of.
type placed struct {
	fastaID  string
	sequence string
	alignTo  *reference
	// aligned is the alignment, where it was made to find the segment.
	aligned *align.Alignment
}

// place reads the submitted sequences and finds the segment of each: of a
// single-segment organism it is the only one; else the FASTA id says it
// ("…_L"), or the reference that the sequence aligns with best. Sequences with a
// fault are left out. The order is that of the segments.
func (p *Align) place(d *draft, submitted map[string]string) []placed {
	ids := slices.Sorted(maps.Keys(submitted))
	switch {
	case !p.organism.ConsensusSequences && len(ids) > 0:
		d.fail(records(ids...), "%s takes no sequences, but the entry has %s.", p.organism.DisplayName, quotedList(ids))
		return nil
	case p.organism.ConsensusSequences && len(ids) == 0:
		d.fail(records(), "The entry has no sequence.")
		return nil
	case len(p.references) == 1 && len(ids) > 1:
		d.fail(records(ids...).of(organism.MainSegment), "The entry has %d sequences, but %s has only one segment: %s.",
			len(ids), p.organism.DisplayName, quotedList(ids))
		return nil
	}
	bySegment := map[string][]placed{}
	for _, id := range ids {
		sequence, ok := d.readSequence(id, submitted[id])
		if !ok {
			continue
		}
		if s, ok := p.find(d, id, sequence); ok {
			bySegment[s.alignTo.segment] = append(bySegment[s.alignTo.segment], s)
		}
	}
	return p.onePerSegment(d, bySegment)
}

// find returns the sequence with its segment.
func (p *Align) find(d *draft, id, sequence string) (placed, bool) {
	s := placed{fastaID: id, sequence: sequence}
	if len(p.references) == 1 {
		s.alignTo = p.references[0]
		return s, true
	}
	suffix := id[strings.LastIndexByte(id, '_')+1:]
	for _, r := range p.references {
		if r.segment == suffix && len(suffix) < len(id) {
			s.alignTo = r
			return s, true
		}
	}
	var turned []string // segments that it aligns with as its reverse complement
	for _, r := range p.references {
		alignment, err := r.align(sequence)
		if reason := new(align.CannotAlignError); errors.As(err, &reason) && reason.Reason == align.ReverseComplement {
			turned = append(turned, r.segment)
		}
		if err == nil && (s.aligned == nil || alignment.Matches > s.aligned.Matches) {
			s.alignTo, s.aligned = r, &alignment
		}
	}
	switch {
	case s.aligned != nil:
		return s, true
	case len(turned) > 0:
		d.fail(records(id), "The sequence %q could not be aligned: it aligns with segment %s as its reverse complement; submit it in the direction of the reference.",
			id, strings.Join(turned, ", "))
	default:
		d.fail(records(id), "The sequence %q could not be aligned with any of the segments %s. If you know the segment, end the FASTA id with \"_\" and its name, such as %q.",
			id, strings.Join(p.segmentNames(), ", "), id+"_"+p.references[0].segment)
	}
	return placed{}, false
}

// onePerSegment leaves out the segments for which there is more than one sequence.
func (p *Align) onePerSegment(d *draft, bySegment map[string][]placed) []placed {
	var all []placed
	for _, r := range p.references {
		candidates := bySegment[r.segment]
		if len(candidates) <= 1 {
			all = append(all, candidates...)
			continue
		}
		var ids []string
		for _, s := range candidates {
			ids = append(ids, s.fastaID)
		}
		d.fail(records(ids...).of(r.segment), "The entry has %d sequences for segment %s, but may have only one: %s.",
			len(ids), r.segment, quotedList(ids))
	}
	return all
}

func (p *Align) segmentNames() []string {
	var names []string
	for _, r := range p.references {
		names = append(names, r.segment)
	}
	return names
}

// maxListed is how many FASTA ids a message spells out.
const maxListed = 10

func quotedList(names []string) string {
	shown := names[:min(len(names), maxListed)]
	list := `"` + strings.Join(shown, `", "`) + `"`
	if len(shown) < len(names) {
		list += " and others"
	}
	return list
}
