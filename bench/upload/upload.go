package upload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/wire"
)

// kiloSamples is how many different small genomes there are.
const kiloSamples = 1000

// size is how many entries an upload has.
func size(b *measure.Bench) int { return b.Size(100_000, 5_000) }

// The figures of contenders.
const (
	peakFigure    = "peak MiB"
	wallFigure    = "s"
	overlapFigure = "both in progress"
	longestFigure = "longest ms"
	p99Figure     = "p99 ms"
	claimsFigure  = "claims"
)

const mebibyte = 1 << 20

// on runs work on a site of small genomes.
func on(ctx context.Context, b *measure.Bench, store string, work func(*wire.Site, []genome.Sample) error) (err error) {
	o, samples, err := genome.NewKilo(kiloSamples)
	if err != nil {
		return err
	}
	s, err := wire.Open(ctx, b, store, 1, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s, samples)
}

// one uploads all entries at once.
func one() measure.Contender {
	return measure.Contender{Name: "upload", Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		err = on(ctx, b, wire.Postgres, func(s *wire.Site, samples []genome.Sample) error {
			before, err := s.CPU(ctx)
			if err != nil {
				return err
			}
			began := time.Now()
			if err := s.Fill(ctx, samples, 0, size(b)); err != nil {
				return err
			}
			took := time.Since(began)
			after, err := s.CPU(ctx)
			if err != nil {
				return err
			}
			peak, err := s.Servers[0].PeakMemory()
			if err != nil {
				return err
			}
			sample = after.Since(before).Figures(size(b))
			sample[measure.Rate], sample[peakFigure] = float64(size(b))/took.Seconds(), peak/mebibyte
			return s.Holds(ctx, size(b), 0)
		})
		return sample, err
	}}
}

// two uploads the halves of the entries, in the names of two groups.
func two(atOnce bool) measure.Contender {
	name := "one after the other"
	if atOnce {
		name = "two at once"
	}
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		err = on(ctx, b, wire.Postgres, func(s *wire.Site, samples []genome.Sample) error {
			half := size(b) / 2
			var ended [2]time.Duration
			uploads, uploading := errgroup.WithContext(ctx)
			if !atOnce {
				uploads.SetLimit(1)
			}
			began := time.Now()
			for i := range ended {
				uploads.Go(func() error {
					err := s.Fill(uploading, samples, i*half, half)
					ended[i] = time.Since(began)
					return err
				})
			}
			if err := uploads.Wait(); err != nil {
				return err
			}
			wall, first := max(ended[0], ended[1]), min(ended[0], ended[1])
			sample = measure.Sample{wallFigure: wall.Seconds(), overlapFigure: first.Seconds() / wall.Seconds()}
			return s.Holds(ctx, 2*half, 0)
		})
		return sample, err
	}}
}

// claimsSize is how many entries there are to be claimed, and how many are uploaded
// meanwhile: so many that some hundred claims are made, of which the slowest isn't the
// hundredth.
func claimsSize(b *measure.Bench) (there, more int) {
	return b.Size(50_000, 2_000), b.Size(400_000, 5_000)
}

// claimsBeside measures claims while another upload is stored, or alone.
func claimsBeside(store string, uploading bool) measure.Contender {
	name := "claims alone, " + store
	if uploading {
		name = "claims beside an upload, " + store
	}
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		err = on(ctx, b, store, func(s *wire.Site, samples []genome.Sample) error {
			there, more := claimsSize(b)
			replies, err := wire.NewReplies(samples)
			if err != nil {
				return err
			}
			if err := s.Fill(ctx, samples, 0, there); err != nil {
				return err
			}
			if !uploading {
				more = 0
			}
			var waits wire.Waits
			done := make(chan struct{})
			both, running := errgroup.WithContext(ctx)
			both.Go(func() (err error) {
				waits, err = s.Waits(running, replies, done)
				return err
			})
			both.Go(func() error {
				defer close(done)
				if uploading {
					return s.Fill(running, samples, there, more)
				}
				return pause(running, time.Duration(b.Size(5_000, 500))*time.Millisecond)
			})
			if err := both.Wait(); err != nil {
				return err
			}
			sample = measure.Sample{
				longestFigure: float64(waits.Longest.Microseconds()) / 1000, p99Figure: float64(waits.P99.Microseconds()) / 1000, claimsFigure: float64(waits.Claims),
			}
			return s.Holds(ctx, there+more, waits.Stored)
		})
		return sample, err
	}}
}

// pause lets the time pass in which claims are measured alone.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("measure claims alone: %w", ctx.Err())
	}
}
