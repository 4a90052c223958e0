package wire

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/httpapi"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/queue"
)

// How long a floor is measured, after it has warmed up.
const (
	floorWarmUp = time.Second
	floorTime   = 5 * time.Second
)

// onAllCores lets every core do batches, first to warm up and then to be measured.
// Each calls begin once and then what it returned.
func onAllCores(ctx context.Context, b *measure.Bench, begin func() func(context.Context) error) (measure.Sample, error) {
	shorter := time.Duration(b.Size(1, 10))
	var sample measure.Sample
	for _, length := range []time.Duration{floorWarmUp / shorter, floorTime / shorter} {
		before, err := measure.OwnTime()
		if err != nil {
			return nil, err
		}
		var batches atomic.Int64
		loops, looping := errgroup.WithContext(ctx)
		began := time.Now()
		for range runtime.GOMAXPROCS(0) {
			loops.Go(func() error {
				once := begin()
				var err error
				for err == nil && time.Since(began) < length {
					err = once(looping)
					batches.Add(1)
				}
				return err
			})
		}
		if err := loops.Wait(); err != nil {
			return nil, err
		}
		took := time.Since(began)
		after, err := measure.OwnTime()
		if err != nil {
			return nil, err
		}
		done := float64(batches.Load() * Batch)
		sample = measure.Sample{measure.Rate: done / took.Seconds(), AllCPU: float64((after - before).Microseconds()) / done}
	}
	return sample, nil
}

// bareFloor is what the codec could do at most on all cores: to decompress what is
// claimed and to encode its lines; to decode the lines of the results, to check them
// and to compress them. Nothing is requested, sent or stored, and the lines of results
// lie in memory.
func bareFloor(ctx context.Context, b *measure.Bench, o *organism.Organism, samples []genome.Sample, replies Replies) (measure.Sample, error) {
	store, err := newCodecStore(o, samples)
	if err != nil {
		return nil, err
	}
	catalog, err := organism.NewCatalog(o)
	if err != nil {
		return nil, err
	}
	work := queue.New(store, catalog)
	return onAllCores(ctx, b, func() func(context.Context) error {
		return (&bareLoop{store: store, queue: work, organism: o.Key, replies: replies}).once
	})
}

// bareLoop is one core's.
type bareLoop struct {
	store    *codecStore
	queue    *queue.Queue
	organism seqlease.Organism
	replies  Replies
	decoder  httpapi.ResultDecoder
	out, in  []byte
}

// once takes a batch out and its results in.
func (l *bareLoop) once(ctx context.Context) error {
	lease, err := l.store.Claim(ctx, queue.Claim{Organism: l.organism, PipelineVersion: 1, Entries: Batch, AttemptID: seqlease.NewAttemptID(), Lease: time.Hour})
	if err != nil {
		return err
	}
	var damaged error
	for e, err := range l.queue.Entries(ctx, lease, func(_ seqlease.AccessionVersion, err error) { damaged = err }) {
		if err == nil {
			l.out, err = httpapi.AppendClaimed(l.out[:0], lease, e)
		}
		if err != nil {
			return err
		}
	}
	if damaged != nil {
		return damaged
	}
	acceptance, err := l.queue.NewAcceptance(ctx, queue.AcceptanceRequest{Organism: l.organism, PipelineVersion: 1})
	if err != nil {
		return err
	}
	var parts [2][]byte
	for i, e := range lease.Entries {
		l.in = l.in[:0]
		for _, part := range l.replies.append(parts[:0], claimed{i, string(e.Accession), "1", lease.AttemptID.String()}) {
			l.in = append(l.in, part...)
		}
		result, err := l.decoder.Decode(i+1, l.in)
		if err == nil {
			err = acceptance.Add(i+1, result)
		}
		if err != nil {
			return err
		}
	}
	accepted, err := acceptance.Commit(ctx) // an invalid result is an error there
	if err == nil && accepted.Stored != Batch {
		err = fmt.Errorf("%d results of a batch were taken", accepted.Stored)
	}
	return err
}
