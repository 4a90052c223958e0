package upload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/bench/wire"
)

// floorTables take entries and tickets with their keys and nothing else.
const floorTables = `
CREATE TABLE entry (
	id bigint PRIMARY KEY, group_id bigint NOT NULL, dictionary_id bigint NOT NULL, organism_id int NOT NULL, version bigint NOT NULL,
	accession text NOT NULL, submission_id text NOT NULL, submitter text NOT NULL, submitted bytea NOT NULL
);
ALTER TABLE entry ALTER COLUMN submitted SET STORAGE EXTERNAL;
CREATE TABLE ticket (
	pipeline_version bigint NOT NULL, rank bigint NOT NULL, entry_id bigint NOT NULL, organism_id int NOT NULL, lane smallint NOT NULL,
	PRIMARY KEY (organism_id, pipeline_version, lane, rank, entry_id)
)`

// copyFloor copies the rows that an upload becomes in one durable transaction. With
// raw the sequences are as they are uploaded, not compressed.
func copyFloor(raw bool) measure.Contender {
	name := "COPY of the stored rows"
	if raw {
		name = "COPY of the sequences as uploaded"
	}
	return measure.Contender{Name: name, Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		documents, err := documents(raw)
		if err != nil {
			return nil, err
		}
		address, drop, err := b.Database(ctx)
		if err != nil {
			return nil, err
		}
		defer drop()
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
		if _, err := c.Exec(ctx, floorTables); err != nil {
			return nil, err
		}
		if err := b.Checkpoint(ctx, address); err != nil {
			return nil, err
		}
		n, backend := size(b), int(c.PgConn().PID())
		before, err := wire.CPU(backend)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := copyRows(ctx, c, documents, n); err != nil {
			return nil, err
		}
		took := time.Since(began)
		after, err := wire.CPU(backend)
		sample = after.Since(before).Figures(n)
		sample[measure.Rate] = float64(n) / took.Seconds()
		return sample, err
	}}
}

// documents are those of the entries.
func documents(raw bool) ([][]byte, error) {
	o, samples, err := genome.NewKilo(kiloSamples)
	if err != nil {
		return nil, err
	}
	if !raw {
		return wire.PackedEntries(o, samples)
	}
	documents := make([][]byte, len(samples))
	for i, s := range samples {
		documents[i] = []byte(s.Sequence)
	}
	return documents, nil
}

func copyRows(ctx context.Context, c *pgx.Conn, documents [][]byte, n int) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after the commit
	entries, err := tx.CopyFrom(ctx, pgx.Identifier{"entry"},
		[]string{"id", "group_id", "dictionary_id", "organism_id", "version", "accession", "submission_id", "submitter", "submitted"},
		pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			return []any{int64(i), int64(1), int64(1), int32(1), int64(1), fmt.Sprintf("BENCH_%06X", i), fmt.Sprintf("bench-%d", i), "submitter", documents[i%len(documents)]}, nil
		}))
	if err != nil {
		return err
	}
	tickets, err := tx.CopyFrom(ctx, pgx.Identifier{"ticket"}, []string{"pipeline_version", "rank", "entry_id", "organism_id", "lane"},
		pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			return []any{int64(1), int64(i), int64(i), int32(1), int16(0)}, nil
		}))
	if err != nil {
		return err
	}
	if entries != int64(n) || tickets != int64(n) {
		return fmt.Errorf("copied %d entries and %d tickets, not %d", entries, tickets, n)
	}
	return tx.Commit(ctx)
}
