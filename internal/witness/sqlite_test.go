package witness_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/witness"
)

// sqliteFile is the file of a store as another program sees it.
type sqliteFile struct {
	db  *sql.DB
	ids ids
}

func openSQLiteFile(t *testing.T, path string) *sqliteFile {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return &sqliteFile{db: db}
}

func (f *sqliteFile) secondVersion(ctx context.Context) error {
	_, err := f.db.ExecContext(ctx, `INSERT INTO pipeline_version (organism_id, version, registered_at) SELECT id, 2, 0 FROM organism;
		INSERT INTO change (organism_id, scope) SELECT id, 2 FROM organism`)
	return err
}

func (f *sqliteFile) now(ctx context.Context) (time.Time, error) {
	var now int64
	err := f.db.QueryRowContext(ctx, "SELECT now FROM clock").Scan(&now)
	return time.UnixMicro(now), err
}

func (f *sqliteFile) results(ctx context.Context, v seqlease.PipelineVersion) ([]witness.Part, error) {
	rows, err := f.db.QueryContext(ctx, `SELECT e.accession, e.version, r.attempt_id FROM result AS r
		JOIN entry AS e ON e.id = r.entry_id AND e.revision = r.revision WHERE r.pipeline_version = ?`, int64(v))
	if err != nil {
		return nil, err
	}
	return scanParts(rows)
}

// scanParts reads and closes rows of accession, version and attempt.
func scanParts(rows *sql.Rows) (parts []witness.Part, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var part witness.Part
		var attempt []byte
		if err := rows.Scan(&part.Accession, &part.Version, &attempt); err != nil {
			return nil, err
		}
		copy(part.Attempt[:], attempt)
		parts = append(parts, part)
	}
	return parts, rows.Err()
}

func (f *sqliteFile) running(ctx context.Context) (list []batch, err error) {
	rows, err := f.db.QueryContext(ctx, "SELECT attempt_id, pipeline_version FROM lease WHERE lease_until > (SELECT now FROM clock)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var b batch
		var attempt []byte
		if err := rows.Scan(&attempt, &b.v); err != nil {
			return nil, err
		}
		copy(b.attempt[:], attempt)
		list = append(list, b)
	}
	return list, rows.Err()
}

func (f *sqliteFile) quarantined(ctx context.Context) (list []witness.Place, err error) {
	rows, err := f.db.QueryContext(ctx, "SELECT e.accession, e.version, q.pipeline_version FROM quarantine AS q JOIN entry AS e ON e.id = q.entry_id")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p witness.Place
		if err := rows.Scan(&p.Accession, &p.Version, &p.Pipeline); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

func (f *sqliteFile) learn(ctx context.Context) (err error) {
	rows, err := f.db.QueryContext(ctx, "SELECT id, accession, version FROM entry")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var av seqlease.AccessionVersion
		if err := rows.Scan(&id, &av.Accession, &av.Version); err != nil {
			return err
		}
		f.ids.put(id, av)
	}
	return rows.Err()
}

// records reads the claims; a large one is recorded in slices.
func (f *sqliteFile) records(ctx context.Context) (list []witness.Record, err error) {
	rows, err := f.db.QueryContext(ctx, `SELECT r.attempt_id, r.pipeline_version, r.claimed_by, min(r.claimed_at), r.lease_seconds,
			json_group_array(i.value), json_group_array(json_extract(r.attempts, '$[' || i.key || ']'))
		FROM claim_record AS r, json_each(r.entry_ids) AS i GROUP BY r.attempt_id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r witness.Record
		var attempt, entries, tries []byte
		var at, seconds int64
		if err := rows.Scan(&attempt, &r.Pipeline, &r.User, &at, &seconds, &entries, &tries); err != nil {
			return nil, err
		}
		copy(r.Attempt[:], attempt)
		r.At, r.Lease = time.UnixMicro(at), time.Duration(seconds)*time.Second
		var id []int64
		var try []int
		if err := errors.Join(json.Unmarshal(entries, &id), json.Unmarshal(tries, &try)); err != nil {
			return nil, err
		}
		for i := range id {
			r.Parts = append(r.Parts, f.ids.part(id[i], try[i]))
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

func (f *sqliteFile) shorten(ctx context.Context, id seqlease.AttemptID, within time.Duration) (until time.Time, parts []witness.Part, err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return until, nil, err
	}
	defer func() { err = errors.Join(err, tx.Commit()) }()
	var micros int64
	err = tx.QueryRowContext(ctx, `UPDATE lease SET lease_until = (SELECT now FROM clock) + ?2
		WHERE attempt_id = ?1 AND lease_until > (SELECT now FROM clock) + ?2 RETURNING lease_until`, id[:], within.Microseconds()).Scan(&micros)
	if errors.Is(err, sql.ErrNoRows) {
		return until, nil, nil
	}
	if err != nil {
		return until, nil, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT e.accession, e.version, d.attempt_id FROM leased AS d
		JOIN entry AS e ON e.id = d.entry_id WHERE d.attempt_id = ?`, id[:])
	if err != nil {
		return until, nil, err
	}
	parts, err = scanParts(rows)
	return time.UnixMicro(micros), parts, err
}

// One store, whose writer has all calls one after the other.
func TestHistory_L3_SQLiteStore(t *testing.T) { //nolint:tparallel // histories of a kind come one after the other
	repeatedly(t, func(t *testing.T) scenario {
		path := filepath.Join(t.TempDir(), "fern.db")
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Retry: patience})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		desk, err := newStoreDesk(t.Context(), s, openSQLiteFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		keep(t, s)
		wild := wild(desk, storeConsole{s}, storefront{s})
		wild.canChange, wild.lease, wild.sweep = true, time.Second, desk.keepOnce
		return wild
	}, append(usual(), "edit")...)
}
