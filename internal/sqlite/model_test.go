package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

func TestModel(t *testing.T) {
	t.Parallel()
	for name, retry := range map[string]queue.Retry{"default": queue.DefaultRetry, "tight": {Attempts: 3, HandOuts: 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.RunModel(t, storetest.Harness{
				New: func(t *testing.T) storetest.Store {
					s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db"), Retry: retry})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = s.Close() })
					return s
				},
				Age:   func(t *testing.T, s storetest.Store, d time.Duration) { age(t, s.(*Store), d) },
				Lose:  func(t *testing.T, s storetest.Store, av seqlease.AccessionVersion) { lose(t, s.(*Store), av) },
				Retry: retry,
				Lacks: map[string]string{storetest.SecondStore: "one process has the file to itself"},
			})
		})
	}
}

// lose deletes the entry's tickets, and the leases that hold it.
func lose(t *testing.T, s *Store, av seqlease.AccessionVersion) {
	t.Helper()
	db := outsider(t, s)
	const of = "(SELECT id FROM entry WHERE accession = ? AND version = ?)"
	mustExec(t, db, "DELETE FROM ticket WHERE entry_id = "+of, string(av.Accession), int64(av.Version))
	mustExec(t, db, "DELETE FROM leased WHERE attempt_id IN (SELECT attempt_id FROM leased WHERE entry_id = "+of+")",
		string(av.Accession), int64(av.Version))
	mustExec(t, db, "DELETE FROM lease WHERE attempt_id NOT IN (SELECT attempt_id FROM leased)")
}

func TestModel_V5_Switch(t *testing.T) {
	t.Parallel()
	storetest.RunSwitchModel(t, suite())
}
