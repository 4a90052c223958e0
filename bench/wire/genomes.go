package wire

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/organism"
)

// genomeSamples is how many different genomes of 30 kb there are, half of them 0.1 %
// from the reference and half 1 %.
const genomeSamples = 200

// longGenomes are generated genomes with their results.
type longGenomes struct {
	virus   *genome.Virus
	samples []genome.Sample
	replies Replies
}

func newLongGenomes(ctx context.Context, b *measure.Bench) (g longGenomes, err error) {
	if g.virus, err = genome.NewSARSCoV2(ctx); err != nil {
		return g, err
	}
	if g.samples, err = g.virus.Generated(ctx, 1, b.Size(genomeSamples, 20), 0.001, 0.01); err != nil {
		return g, err
	}
	g.replies, err = NewReplies(g.samples)
	return g, err
}

func drainGenomes() measure.Contender {
	return measure.Contender{Name: "HTTP, 30 kb", Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		g, err := newLongGenomes(ctx, b)
		if err != nil {
			return nil, err
		}
		n := genomeDrain(b)
		s, err := Open(ctx, b, Postgres, 1, g.virus.Organism)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if err := s.Fill(ctx, g.samples, 0, n); err != nil {
			return nil, err
		}
		if err := b.Checkpoint(ctx, s.Database); err != nil {
			return nil, err
		}
		d, err := s.Replay(ctx, g.replies, 0, n)
		if err != nil {
			return nil, err
		}
		return d.sample(), s.Holds(ctx, n, n)
	}}
}

func floorGenomes(name string, floor func(context.Context, *measure.Bench, *organism.Organism, []genome.Sample, Replies) (measure.Sample, error)) measure.Contender {
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		g, err := newLongGenomes(ctx, b)
		if err != nil {
			return nil, err
		}
		return floor(ctx, b, g.virus.Organism, g.samples, g.replies)
	}}
}

func genomes() measure.Experiment {
	ours, floor, handlers := drainGenomes(), floorGenomes("codec floor", bareFloor), floorGenomes("codec floor with handlers", handlerFloor)
	return measure.Experiment{Name: "http-genomes", Contenders: []measure.Contender{ours, floor, handlers}, Rows: func(r *measure.Results) []measure.Row {
		note := measure.Count(genomeDrain(r.Bench)) + " genomes of 30 kb with aligned sequence and all genes, 0.1 % and 1 % from the reference; server, 64 workers and PostgreSQL " +
			"on the same cores as the floor, which only decompresses and encodes claimed lines and decodes, checks, digests and compresses results"
		return []measure.Row{
			measure.AtLeast("HTTP drain of 30 kb genomes / codec floor", r.Ratio(ours.Name, floor.Name, measure.Rate), 0.6, 0, "×", note).Of(measure.CodecFloor),
			measure.Inform("HTTP drain of 30 kb genomes", r.Of(ours.Name, measure.Rate), "/s", ""),
			measure.Inform("HTTP drain of 30 kb genomes / codec floor, in processor time", r.Ratio(floor.Name, ours.Name, AllCPU), "×",
				"the floor's time per entry / that of server, workers and PostgreSQL: hardly depends on what else runs on the machine"),
			measure.Inform("codec floor of 30 kb genomes", r.Of(floor.Name, measure.Rate), "/s", ""),
			measure.Inform("codec floor / the same with the server's handlers", r.Ratio(floor.Name, handlers.Name, measure.Rate), "×", "without a network or a database"),
		}
	}}
}

// genomeDrain is how many genomes are drained.
func genomeDrain(b *measure.Bench) int { return b.Size(10_000, 400) }
