package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease/bench/measure"
)

// The figures of what uploads and drains of long genomes take.
const (
	peakFigure   = "peak MiB"
	growthFigure = "peak / peak after a fifth"
	uploadFigure = "uploaded/s"
)

const mebibyte = 1 << 20

// memoryParts are as many genomes each.
const memoryParts = 5

func memoryPart(b *measure.Bench) int { return b.Size(20_000, 200) }

// memory is the most that a server has ever had while genomes are uploaded and
// drained, a fifth of them at a time.
func memory() measure.Experiment {
	ours := measure.Contender{Name: "HTTP, 30 kb, many", Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		g, err := newLongGenomes(ctx, b)
		if err != nil {
			return nil, err
		}
		s, err := Open(ctx, b, Postgres, 1, g.virus.Organism)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return s.memory(ctx, b, g)
	}}
	return measure.Experiment{Name: "http-memory", Rounds: 1, Contenders: []measure.Contender{ours}, Rows: func(r *measure.Results) []measure.Row {
		part := memoryPart(r.Bench)
		all := measure.Count(memoryParts * part)
		const note = "VmHWM; 30 kb genomes with aligned sequence and all genes, uploaded as FASTA and TSV, and drained by 64 workers; PostgreSQL"
		return []measure.Row{
			measure.Below("server memory: "+all+" genomes of 30 kb uploaded and drained", r.Of(ours.Name, peakFigure).Longest(), 256, 0, "MiB", note).Of(measure.ServerMemory),
			measure.AtMost("server memory: after "+all+" genomes / after "+measure.Count(part), r.Of(ours.Name, growthFigure).Longest(), 1.1, 0, "×", note).Of(measure.ServerMemory),
			measure.Inform("upload of 30 kb genomes", r.Of(ours.Name, uploadFigure), "/s", fmt.Sprintf("%s in an upload, %d MB", measure.Count(part), part*30/1000)),
		}
	}}
}

// memory uploads and drains one fifth after the other.
func (s *Site) memory(ctx context.Context, b *measure.Bench, g longGenomes) (measure.Sample, error) {
	n := memoryPart(b)
	peaks := make([]float64, memoryParts)
	sample := measure.Sample{}
	for part := range memoryParts {
		first := part * n
		took, err := timed(func() error { return s.Fill(ctx, g.samples, first, n) })
		if err != nil {
			return nil, err
		}
		uploaded, err := s.Servers[0].PeakMemory()
		if err != nil {
			return nil, err
		}
		d, err := s.Replay(ctx, g.replies, first, n)
		if err != nil {
			return nil, err
		}
		if err := s.Holds(ctx, first+n, first+n); err != nil {
			return nil, err
		}
		if peaks[part], err = s.Servers[0].PeakMemory(); err != nil {
			return nil, err
		}
		sample[uploadFigure], sample[measure.Rate] = float64(n)/took.Seconds(), d.Rate()
		b.Tell("http-memory: %d genomes, uploaded at %.0f/s, peak %.1f MiB, drained at %.0f/s, peak %.1f MiB",
			first+n, sample[uploadFigure], uploaded/mebibyte, d.Rate(), peaks[part]/mebibyte)
	}
	sample[peakFigure], sample[growthFigure] = peaks[memoryParts-1]/mebibyte, peaks[memoryParts-1]/peaks[0]
	return sample, nil
}
