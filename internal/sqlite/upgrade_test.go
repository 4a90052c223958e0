package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// The schema before lanes and ranks, with two groups' entries: 1 to 4 and 7 wait
// after so many attempts, 5 is leased, 6 is in a lease that has ended, and 8
// belongs to an upload that never was complete.
const storeOfSchema2 = `
INSERT INTO organism (key, dictionary_id) VALUES ('west-nile', 0);
INSERT INTO pipeline_version (organism_id, version, registered_at) VALUES (1, 1, 0);
INSERT INTO change (organism_id, scope) VALUES (1, 0), (1, 1);
INSERT INTO submitting_group (group_name, institution, line1, line2, city, state, postal_code, country, contact_email)
VALUES ('a', '', '', '', '', '', '', '', ''), ('b', '', '', '', '', '', '', '', '');
INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at)
SELECT value, 'LOC_' || value, 1, 1, 1 + (value = 7), 's' || value, 'anna', 0 FROM json_each('[1,2,3,4,5,6,7,8]');
INSERT INTO submitted (entry_id, revision, dictionary_id, body) SELECT id, 1, 0, x'' FROM entry;
INSERT INTO data_use_terms (accession, change_number, changed_at, changed_by, terms) SELECT accession, 1, 0, 'anna', 'OPEN' FROM entry;
UPDATE counter SET last = 8;
INSERT INTO upload (id, organism_id, started_at) VALUES (1, 1, 0);
INSERT INTO upload_run (first_entry_id, last_entry_id, upload_id) VALUES (8, 8, 1);
INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
VALUES (1, 1, 1, 0, 0), (1, 1, 2, 1, 1), (1, 1, 3, 3, 3), (1, 1, 4, 5, 5), (1, 1, 7, 0, 0), (1, 1, 8, 0, 0);
INSERT INTO lease (attempt_id, organism_id, pipeline_version, lease_until, lease_seconds, claimed_at, claimed_by, worker_id)
SELECT unhex('000102030405060708090a0b0c0d0e0f'), 1, 1, now + 600000000, 600, now, 'pipeline', 'worker 1' FROM clock
UNION ALL
SELECT unhex('0f0e0d0c0b0a09080706050403020100'), 1, 1, now, 600, now - 600000000, 'pipeline', 'worker 2' FROM clock;
INSERT INTO leased (pipeline_version, entry_id, attempt_id, position, revision, attempts, hand_outs)
VALUES (1, 5, unhex('000102030405060708090a0b0c0d0e0f'), 0, 1, 2, 2), (1, 6, unhex('0f0e0d0c0b0a09080706050403020100'), 0, 1, 7, 70);
`

// schema2 makes a store as the release before lanes left it.
func schema2(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // what follows shows whether all was written
	db.SetMaxOpenConns(1)
	provider, err := newProvider(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, storeOfSchema2)
	return path
}

func TestMigrate_L1_L4_WorkOfAnEarlierSchemaIsKept(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: schema2(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	running := seqlease.AttemptID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	renewed, err := s.Renew(t.Context(), queue.Renew{Organism: storetest.WestNile, AttemptID: running, ClaimedBy: "pipeline"})
	if err != nil || renewed.Held != 1 || renewed.Lease != 10*time.Minute {
		t.Errorf("renewed %+v, %v, want one entry for ten minutes", renewed, err)
	}
	leases, err := s.Leases(t.Context(), storetest.WestNile, nil, 10)
	if err != nil || len(leases) != 2 || leases[0].Claimed != 1 || !leases[0].Ended || leases[1].Ended {
		t.Errorf("leases %+v, %v, want one that ended and one that runs", leases, err)
	}
	for _, want := range [][]string{{"LOC_1 1", "LOC_7 1"}, {"LOC_3 4"}, {"LOC_2 2"}, {"LOC_4 5"}, {"LOC_6 5"}, nil} {
		lease, err := s.Claim(t.Context(), benchClaim(2*queue.SuspectShare))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range lease.Entries {
			got = append(got, string(e.Accession)+" "+string(rune('0'+e.Attempt)))
		}
		if !cmp.Equal(got, want) {
			t.Errorf("claimed %v, want %v", got, want)
		}
	}
	// L9: what was never tried alone isn't spent.
	if spent, err := s.Spent(t.Context(), 10); err != nil || len(spent) != 0 {
		t.Errorf("spent %+v, %v, want none", spent, err)
	}
	if n := count(t, s, "SELECT count(*) FROM entry"); n != 7 {
		t.Errorf("%d entries, want those 7 whose upload was complete", n)
	}
	wantIntact(t, s)
}

// The last rank of each group goes on from what waited at the upgrade (L17).
func TestMigrate_L17_GroupsGoOn(t *testing.T) {
	t.Parallel()
	s, err := Open(context.WithoutCancel(t.Context()), Options{Path: schema2(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var got [][3]int
	rows, err := outsider(t, s).QueryContext(t.Context(), "SELECT lane, group_id, last_rank FROM turn ORDER BY lane, group_id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var row [3]int
		if err := rows.Scan(&row[0], &row[1], &row[2]); err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if want := [][3]int{{0, 0, 4}, {0, 1, 4}, {0, 2, 1}}; !cmp.Equal(got, want) {
		t.Errorf("last ranks by lane and group %v, want %v", got, want)
	}
}
