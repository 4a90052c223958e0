package pipeline

import (
	"fmt"
	"sync"

	"github.com/seqlease/seqlease/internal/align"
	"github.com/seqlease/seqlease/internal/organism"
)

// reference aligns sequences to one segment of the reference genome. It may be
// used concurrently.
type reference struct {
	segment  string
	index    *align.Index
	aligners sync.Pool // of *align.Aligner: each keeps its memory between sequences
}

func newReference(s organism.NamedSequence) (*reference, error) {
	index, err := align.NewIndex([]byte(s.Sequence))
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", s.Name, err)
	}
	return &reference{segment: s.Name, index: index}, nil
}

func (r *reference) align(sequence string) (align.Alignment, error) {
	a, ok := r.aligners.Get().(*align.Aligner)
	if !ok {
		a = align.NewAligner(r.index)
	}
	alignment, err := a.Align([]byte(sequence))
	r.aligners.Put(a) // not after a panic
	return alignment, err
}
