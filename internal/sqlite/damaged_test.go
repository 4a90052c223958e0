package sqlite

import (
	"testing"

	"github.com/seqlease/seqlease/internal/storetest"
)

func TestStore_B022_ThousandsOfDamagedDocuments(t *testing.T) {
	t.Parallel()
	does := func(statements ...string) func(t *testing.T, s storetest.Store) {
		return func(t *testing.T, s storetest.Store) {
			t.Helper()
			db := outsider(t, s.(*Store))
			for _, statement := range statements {
				mustExec(t, db, statement)
			}
		}
	}
	const of = " WHERE entry_id IN (SELECT id FROM entry WHERE submission_id "
	storetest.RunDamaged(t, suite(), does(
		"UPDATE submitted SET body = substr(body, 1, length(body) / 2)"+of+"NOT LIKE '%00' AND submission_id NOT LIKE '%1')",
		"UPDATE submitted SET dictionary_id = 987654"+of+"LIKE '%1')",
	), does("UPDATE ticket SET lane = 4, attempts = 5, hand_outs = 5"))
}
