package wire

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/organism"
)

// The figures of contenders beside the rate.
const (
	claimsFigure  = "claims per N/100"
	lostFigure    = "lost races"
	refusedFigure = "refused"
)

// kiloSamples is how many different small genomes there are.
const kiloSamples = 1000

// Drain1kB drains entries of a kilobyte through one server on PostgreSQL: a claimed
// line and a line of results have about 1 kB each. Its figure is the rate.
func Drain1kB() measure.Contender {
	return measure.Contender{Name: "HTTP, 1 kB", Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		return drainKilo(ctx, b, Postgres, 1, b.Size(50_000, 3_000), genome.NewKilo, false)
	}}
}

// DrainOpaque drains entries and results that take a kilobyte each when they are
// stored, as hardly anything compresses them. Its figure is the rate.
func DrainOpaque() measure.Contender {
	return measure.Contender{Name: "HTTP, 1 kB stored", Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		return drainKilo(ctx, b, Postgres, 1, b.Size(50_000, 3_000), genome.NewOpaque, false)
	}}
}

// drainOfficial lets workers with the product's client share two servers.
func drainOfficial() measure.Contender {
	return measure.Contender{Name: "HTTP, two servers", Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		return drainKilo(ctx, b, Postgres, 2, officialDrain(b), genome.NewKilo, true)
	}}
}

// officialDrain is how many entries are drained with the product's client.
func officialDrain(b *measure.Bench) int { return b.Size(100_000, 6_400) }

// newSamples makes an organism and n of its entries.
type newSamples func(n int) (*organism.Organism, []genome.Sample, error)

// drainKilo fills a site with small entries and drains it.
func drainKilo(ctx context.Context, b *measure.Bench, store string, servers, n int, entries newSamples, official bool) (sample measure.Sample, err error) {
	o, samples, err := entries(kiloSamples)
	if err != nil {
		return nil, err
	}
	replies, err := NewReplies(samples)
	if err != nil {
		return nil, err
	}
	s, err := Open(ctx, b, store, servers, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Fill(ctx, samples, 0, n); err != nil {
		return nil, err
	}
	if store == Postgres {
		if err := b.Checkpoint(ctx, s.Database); err != nil {
			return nil, err
		}
	}
	work := func() (Drained, error) { return s.Replay(ctx, replies, 0, n) }
	if official {
		work = func() (Drained, error) { return s.Official(ctx, samples, 0, n) }
	}
	d, err := work()
	if err != nil {
		return nil, err
	}
	return d.sample(), s.Holds(ctx, n, n)
}

// sample is what rows are made of.
func (d Drained) sample() measure.Sample {
	sample := d.CPU.Figures(d.Entries)
	sample[measure.Rate], sample[claimsFigure], sample[lostFigure], sample[refusedFigure] = d.Rate(), float64(d.Claims)*Batch/float64(d.Entries), float64(d.Lost), float64(d.Refused)
	return sample
}
