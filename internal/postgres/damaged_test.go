package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
)

func TestStore_B022_ThousandsOfDamagedDocuments(t *testing.T) {
	t.Parallel()
	h := newHarness("", postgres.Options{})
	does := func(statements ...string) func(t *testing.T, s storetest.Store) {
		return func(t *testing.T, s storetest.Store) {
			t.Helper()
			run(t, connect(t, h.databaseOf(s).address), statements...)
		}
	}
	storetest.RunDamaged(t, h.forSuite(), does(
		"UPDATE entry SET submitted = substr(submitted, 1, octet_length(submitted) / 2) WHERE submission_id NOT LIKE '%00' AND submission_id NOT LIKE '%1'",
		"UPDATE entry SET dictionary_id = 987654 WHERE submission_id LIKE '%1'",
	), does("UPDATE ticket SET lane = 4, attempts = 5, hand_outs = 5"))
}
