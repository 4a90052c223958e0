package wire

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seqlease/seqlease/bench/genome"
	"github.com/seqlease/seqlease/bench/measure"
)

func sqliteSize(b *measure.Bench) int { return b.Size(50_000, 3_000) }

func drainSQLite() measure.Contender {
	return measure.Contender{Name: "HTTP, SQLite", Run: func(ctx context.Context, b *measure.Bench) (measure.Sample, error) {
		return drainKilo(ctx, b, SQLite, 1, sqliteSize(b), genome.NewKilo, false)
	}}
}

// writerFloor is one writer that stores the same bytes, 100 rows a commit, with
// nothing else to do.
func writerFloor(synchronous string) measure.Contender {
	return measure.Contender{Name: "one writer, " + synchronous, Run: func(ctx context.Context, b *measure.Bench) (sample measure.Sample, err error) {
		o, samples, err := genome.NewKilo(kiloSamples)
		if err != nil {
			return nil, err
		}
		bodies, err := packedResults(ctx, o, samples)
		if err != nil {
			return nil, err
		}
		dir, err := os.MkdirTemp(b.Dir, "floor-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+"?"+url.Values{
			"_pragma": {"journal_mode(WAL)", "synchronous(" + synchronous + ")"}, "_txlock": {"immediate"},
		}.Encode())
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		defer func() { err = errors.Join(err, db.Close()) }()
		n := sqliteSize(b)
		before, err := measure.OwnTime()
		if err != nil {
			return nil, err
		}
		took, err := timed(func() error { return writeResults(ctx, db, bodies, n) })
		if err != nil {
			return nil, err
		}
		after, err := measure.OwnTime()
		return measure.Sample{measure.Rate: float64(n) / took.Seconds(), AllCPU: float64((after - before).Microseconds()) / float64(n)}, err
	}}
}

// floorTable has the columns of a stored result.
const floorTable = `CREATE TABLE result (
	pipeline_version INTEGER NOT NULL, entry_id INTEGER NOT NULL, revision INTEGER NOT NULL, attempt_id BLOB NOT NULL, organism_id INTEGER NOT NULL,
	outcome TEXT NOT NULL, digest BLOB NOT NULL, dictionary_id INTEGER NOT NULL, processed_at INTEGER NOT NULL, body BLOB NOT NULL,
	PRIMARY KEY (pipeline_version, entry_id)
) STRICT, WITHOUT ROWID`

func writeResults(ctx context.Context, db *sql.DB, bodies [][]byte, n int) error {
	if _, err := db.ExecContext(ctx, floorTable); err != nil {
		return err
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO result VALUES (1, ?, 1, ?, 1, 'NO_ISSUES', ?, 1, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // goes with the database
	for first := 0; first < n; first += Batch {
		if err := writeBatch(ctx, db, insert, bodies, first, min(first+Batch, n)); err != nil {
			return err
		}
	}
	var stored int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM result").Scan(&stored); err != nil {
		return err
	}
	if stored != n {
		return fmt.Errorf("the floor stored %d rows, not %d", stored, n)
	}
	return nil
}

// writeBatch stores the rows from first to before end.
func writeBatch(ctx context.Context, db *sql.DB, insert *sql.Stmt, bodies [][]byte, first, end int) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	var names [32]byte
	_, _ = rand.Read(names[:]) // never returns an error
	statement := tx.StmtContext(ctx, insert)
	defer func() { _ = statement.Close() }() // goes with the transaction
	for i := first; i < end; i++ {
		if _, err := statement.ExecContext(ctx, i, names[:16], names[16:], time.Now().UnixMicro(), bodies[i%len(bodies)]); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// embedded compares a server on SQLite with what the engine could do.
func embedded() measure.Experiment {
	ours, full, normal := drainSQLite(), writerFloor("FULL"), writerFloor("NORMAL")
	return measure.Experiment{Name: "http-sqlite", Contenders: []measure.Contender{ours, full, normal}, Rows: func(r *measure.Results) []measure.Row {
		const floor = "; the floor is one writer with the same driver and the same bytes, 100 rows a commit"
		return []measure.Row{
			measure.AtLeast("SQLite over HTTP / its floor, synchronous=FULL", r.Ratio(ours.Name, full.Name, measure.Rate), 0.5, 0, "×",
				measure.Count(sqliteSize(r.Bench))+" entries of 1 kB, 64 workers; the server's writer has NORMAL and has the log synced itself before anything is answered, as durable as FULL"+floor),
			measure.Inform("SQLite over HTTP / a floor that may lose commits, synchronous=NORMAL", r.Ratio(ours.Name, normal.Name, measure.Rate), "×",
				"NORMAL without syncing the log, which the server never is"+floor),
			measure.Inform("SQLite over HTTP / its floor, synchronous=FULL, in processor time", r.Ratio(full.Name, ours.Name, AllCPU), "×",
				"the floor's time per entry / that of server and workers"),
			measure.Inform("SQLite over HTTP", r.Of(ours.Name, measure.Rate), "/s", ""),
			measure.Inform("SQLite floor, synchronous=FULL", r.Of(full.Name, measure.Rate), "/s", ""),
		}
	}}
}
