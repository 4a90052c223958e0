package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

var _ submission.Store = (*Store)(nil)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, suite())
}

func TestStore_B029_CrossedChanges(t *testing.T) {
	t.Parallel()
	storetest.RunCrossed(t, suite())
}

func suite() storetest.Harness {
	return storetest.Harness{
		New: func(t *testing.T) storetest.Store { return newStore(t) },
		Age: func(t *testing.T, s storetest.Store, d time.Duration) { age(t, s.(*Store), d) },
		Damage: func(t *testing.T, s storetest.Store, av seqlease.AccessionVersion) {
			mustExec(t, outsider(t, s.(*Store)), `UPDATE submitted SET body = substr(body, 1, length(body) / 2)
				WHERE entry_id = (SELECT id FROM entry WHERE accession = ? AND version = ?)`, string(av.Accession), int64(av.Version))
		},
		Lose: func(t *testing.T, s storetest.Store, av seqlease.AccessionVersion) { lose(t, s.(*Store), av) },
		Switch: func(t *testing.T, s storetest.Store, o seqlease.Organism, version seqlease.PipelineVersion) {
			mustExec(t, outsider(t, s.(*Store)), "UPDATE organism SET current_pipeline_version = ? WHERE key = ?", int64(version), string(o))
		},
		Lacks: map[string]string{
			storetest.SecondStore: "one process has the file to itself; TestOpen_B046_SecondProcessIsRefused shows the refusal",
		},
	}
}

// newStore opens a fresh store, which the test's clean-up closes.
func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// outsider is a connection of another program to the store's file.
func outsider(t testing.TB, s *Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(s.path, map[string][]string{"_pragma": {"busy_timeout(5000)"}, "_txlock": {"immediate"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// age shifts every stored instant back by d.
func age(t testing.TB, s *Store, d time.Duration) {
	t.Helper()
	db := outsider(t, s)
	for table, columns := range map[string][]string{
		"pipeline_version": {"registered_at"}, "version_switch": {"switched_at"}, "entry": {"submitted_at", "released_at"}, "data_use_terms": {"changed_at"},
		"upload": {"started_at"}, "approval": {"released_at"}, "lease": {"lease_until", "claimed_at"}, "result": {"processed_at"},
		"claim_record": {"claimed_at"}, "failure": {"at"}, "quarantine": {"at"},
		"audit": {"at"}, "external_metadata": {"updated_at"}, "upload_key": {"created_at"},
	} {
		for _, column := range columns {
			mustExec(t, db, "UPDATE "+table+" SET "+column+" = "+column+" - ?", d.Microseconds())
		}
	}
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// remove deletes entries of West Nile virus.
func remove(ctx context.Context, s *Store, versions []seqlease.AccessionVersion) error {
	_, err := s.Delete(ctx, submission.Deletion{Organism: storetest.WestNile, User: "anna", Scope: seqlease.DeleteAll, Entries: versions})
	return err
}
