package stored

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/wire"
	"github.com/seqlease/seqlease/internal/seqcodec"
)

// The figures, in bytes for each genome.
const (
	sequencesFigure = "sequences"
	entryFigure     = "entry document"
	resultFigure    = "result document"
	entryDisk       = "entry on disk"
	resultDisk      = "result on disk"
	genomesFigure   = "genomes"
	faultyFigure    = "with errors"
)

// source makes the genomes of a contender.
type source func(ctx context.Context, b *measure.Bench, v *genome.Virus) ([]genome.Sample, error)

// contender stores the genomes of a source.
func contender(name string, from source) measure.Contender {
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		v, err := genome.NewSARSCoV2(ctx)
		if err != nil {
			return nil, err
		}
		samples, err := from(ctx, b, v)
		if err != nil {
			return nil, err
		}
		replies, err := wire.NewReplies(samples)
		if err != nil {
			return nil, err
		}
		s, err := wire.Open(ctx, b, wire.Postgres, 1, v.Organism)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if err := s.Fill(ctx, samples, 0, len(samples)); err != nil {
			return nil, err
		}
		if _, err := s.Replay(ctx, replies, 0, len(samples)); err != nil {
			return nil, err
		}
		if err := s.Holds(ctx, len(samples), len(samples)); err != nil {
			return nil, err
		}
		if sample, err = measureRows(ctx, s.Database, len(samples)); err != nil {
			return nil, err
		}
		sample[genomesFigure], sample[faultyFigure] = float64(len(samples)), 0
		for _, s := range samples {
			if len(s.Result.Errors) > 0 {
				sample[faultyFigure]++
			}
		}
		sample[sequencesFigure], err = sequencesAlone(v, samples)
		return sample, err
	}}
}

// sequencesAlone is how many bytes a genome's unaligned and aligned sequence and all
// its genes take when they are compressed together without anything else.
func sequencesAlone(v *genome.Virus, samples []genome.Sample) (float64, error) {
	codec, dictionary := seqcodec.New(), seqcodec.Dictionary{ID: 1, Bytes: v.Organism.Dictionary()}
	sum := 0
	for _, s := range samples {
		document, err := json.Marshal(seqlease.ProcessedData{
			UnalignedNucleotideSequences: s.Result.Data.UnalignedNucleotideSequences,
			AlignedNucleotideSequences:   s.Result.Data.AlignedNucleotideSequences,
			AlignedAminoAcidSequences:    s.Result.Data.AlignedAminoAcidSequences,
		}, json.Deterministic(true))
		if err != nil {
			return 0, err
		}
		frame, err := codec.Encode(dictionary, document)
		if err != nil {
			return 0, err
		}
		sum += len(frame)
	}
	return float64(sum) / float64(len(samples)), nil
}

// measureRows asks the database how large documents and relations are.
func measureRows(ctx context.Context, address string, n int) (_ measure.Sample, err error) {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	sample := measure.Sample{}
	for figure, query := range map[string]string{
		entryFigure:  "SELECT sum(octet_length(submitted)) FROM entry",
		resultFigure: "SELECT sum(octet_length(body)) FROM result",
		entryDisk:    "SELECT pg_total_relation_size('entry')",
		resultDisk:   "SELECT pg_total_relation_size('result')",
	} {
		var bytes int64
		if err := c.QueryRow(ctx, query).Scan(&bytes); err != nil {
			return nil, fmt.Errorf("%s: %w", figure, err)
		}
		sample[figure] = float64(bytes) / float64(n)
	}
	return sample, nil
}

// realGenomes are all real genomes.
func realGenomes(ctx context.Context, b *measure.Bench, v *genome.Virus) ([]genome.Sample, error) {
	sets := genome.RealSets
	if b.Quick {
		sets = []string{genome.SmallSet}
	}
	return v.Real(ctx, sets...)
}

// generated are genomes that differ from the reference in a share of their bases.
func generated(share float64) source {
	return func(ctx context.Context, b *measure.Bench, v *genome.Virus) ([]genome.Sample, error) {
		return v.Generated(ctx, 7, b.Size(2_000, 50), share)
	}
}
