package drain

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/measure"
)

// A sqlDesign is a design that is written down here: its statements are
// NAME_schema, NAME_fill, NAME_claim, NAME_accept and NAME_check in sql/. A claim takes
// the attempt's id and returns keys and documents; an acceptance takes the attempt's
// id, keys and results, and returns how many were stored, or fails and stores none.
// K is the type of its keys.
type sqlDesign[K any] struct {
	database
	name string
	work Work
	// Statements, read once.
	claim, accept string
	// lines: a statement for each result, with arrays of one, instead of one for the batch.
	lines bool
}

// openSQL makes the tables of the design with the statements of those names.
func openSQL[K any](ctx context.Context, address, name string, schemas []string, w Work, lines bool) (*sqlDesign[K], error) {
	d, err := openPool(ctx, address, schemas...)
	if err != nil {
		return nil, err
	}
	return &sqlDesign[K]{database: d, name: name, work: w, claim: statement(name + "_claim"), accept: statement(name + "_accept"), lines: lines}, nil
}

// fillChunk is how many documents go into a statement.
const fillChunk = 5000

func (q *sqlDesign[K]) fill(ctx context.Context, first int64, n int) error {
	text := statement(q.name + "_fill")
	for done := 0; done < n; done += fillChunk {
		size := min(fillChunk, n-done)
		numbers, documents := make([]int64, size), make([][]byte, size)
		for i := range size {
			numbers[i] = first + int64(done+i)
			documents[i] = document(numbers[i], q.work.Entry)
		}
		if _, err := q.pool.Exec(ctx, text, numbers, documents); err != nil {
			return err
		}
	}
	return nil
}

func (q *sqlDesign[K]) step(ctx context.Context) ([]int64, error) {
	id := pgtype.UUID{Bytes: seqlease.NewAttemptID(), Valid: true}
	keys, numbers, err := q.take(ctx, id)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	bodies := make([][]byte, len(numbers))
	for i, number := range numbers {
		bodies[i] = document(number, q.work.Result)
	}
	if q.lines {
		return numbers, q.storeLines(ctx, id, keys, bodies)
	}
	var stored int
	if err := q.pool.QueryRow(ctx, q.accept, id, keys, bodies).Scan(&stored); err != nil {
		return nil, err
	}
	if stored != len(keys) {
		return nil, fmt.Errorf("%d results of %d were stored", stored, len(keys))
	}
	return numbers, nil
}

// take claims. As the product's claims, those of the designs don't wait for the disk:
// a claim that a crash undoes is made again. What is sent at once is one transaction,
// in which alone the setting holds; results are stored durably.
func (q *sqlDesign[K]) take(ctx context.Context, id pgtype.UUID) (keys []K, numbers []int64, err error) {
	batch := &pgx.Batch{}
	batch.Queue(statement("claim_settings"))
	batch.Queue(q.claim, id).Query(func(rows pgx.Rows) error {
		var key K
		var read []byte
		_, err := pgx.ForEachRow(rows, []any{&key, &read}, func() error {
			number, err := numberOf(read)
			keys, numbers = append(keys, key), append(numbers, number)
			return err
		})
		return err
	})
	err = q.pool.SendBatch(ctx, batch).Close()
	return keys, numbers, err
}

// storeLines sends all statements at once; they are one transaction.
func (q *sqlDesign[K]) storeLines(ctx context.Context, id pgtype.UUID, keys []K, bodies [][]byte) error {
	batch := &pgx.Batch{}
	for i := range keys {
		batch.Queue(q.accept, id, keys[i:i+1], bodies[i:i+1]).QueryRow(func(row pgx.Row) error {
			var stored int
			if err := row.Scan(&stored); err != nil {
				return err
			}
			if stored != 1 {
				return errors.New("a result was not stored")
			}
			return nil
		})
	}
	return q.pool.SendBatch(ctx, batch).Close()
}

func (q *sqlDesign[K]) check(ctx context.Context, done, left int) error {
	return q.checkWith(ctx, q.name+"_check", q.work.Result, done, left)
}

// RowLease is the published design of leases: a row for each entry and version has
// its status, attempt, lease end and in the end its result, and is updated in place;
// waiting ones are found by a partial index in the order of accessions. Statements
// that change the table update one row of a table of last changes.
func RowLease(w Work) measure.Contender {
	return contender[string](nameRowLease, "row_lease", []string{"entry_schema", "row_lease_schema", "row_lease_tracker"}, w, false, false)
}

// RowLeaseAlone is RowLease at its best: without the shared row, and ordered by a
// column that only the partial index has.
func RowLeaseAlone(w Work) measure.Contender {
	return contender[string](nameRowLeaseAlone, "row_lease_alone", []string{"entry_schema", "row_lease_alone_schema"}, w, false, false)
}

// InsertRace is how claims were made before there were leases: whoever inserts a
// processing row has the entry, those who wanted the same ones get none of them;
// results are stored a statement each; each statement updates the shared row of
// last changes.
func InsertRace(w Work) measure.Contender {
	return contender[string](nameInsertRace, "insert_race", []string{"entry_schema", "insert_race_schema"}, w, true, true)
}

// Messages is a message queue in the manner of pgmq: reading a message makes it
// invisible for a time; results are stored and messages deleted in one transaction.
func Messages(w Work) measure.Contender {
	return contender[int64](nameMessages, "message", []string{"message_schema"}, w, false, false)
}

func contender[K any](shown, name string, schemas []string, w Work, lines, races bool) measure.Contender {
	return measure.Contender{Name: shown, Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		w := w.quickly(b)
		return inDatabase(ctx, b, func(address string) (measure.Sample, error) {
			q, err := openSQL[K](ctx, address, name, schemas, w, lines)
			if err != nil {
				return nil, err
			}
			defer q.close()
			return run(ctx, b, q, w, races)
		})
	}}
}
