package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/seqlease/seqlease/internal/storetest"
)

// B010: a lease without an end or an owner, or two holders of an entry, can't be
// stored.
func TestSchema_B010_ImpossibleLeasesAreRefused(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 2)
	if _, err := s.Claim(t.Context(), benchClaim(2)); err != nil {
		t.Fatal(err)
	}
	db := outsider(t, s)
	for _, statement := range []string{
		"UPDATE lease SET lease_until = NULL", "UPDATE lease SET lease_until = 'never'", "UPDATE lease SET attempt_id = NULL",
		"UPDATE lease SET claimed_by = NULL", "UPDATE lease SET lease_seconds = NULL",
		"UPDATE leased SET attempt_id = NULL", "UPDATE leased SET revision = NULL", "UPDATE leased SET attempts = 'many'",
		"INSERT INTO leased SELECT * FROM leased",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was done", statement)
		}
	}
}

// B010: entries of a lease that somebody deleted by hand are processed after a
// restart, while those of others stay where they are.
func TestOpen_B010_EntriesOfADeletedLeaseAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	u, err := prepareUpload(t.Context(), s, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, 2} {
		if lease, err := s.Claim(t.Context(), benchClaim(n)); err != nil || len(lease.Entries) != n {
			t.Fatalf("claimed %d entries, %v, want %d", len(lease.Entries), err, n)
		}
	}
	mustExec(t, outsider(t, s), "DELETE FROM lease WHERE (SELECT count(*) FROM leased AS d WHERE d.attempt_id = lease.attempt_id) = 3")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	if added, _, err := s.Reconcile(t.Context(), 0, 100); err != nil || added != 3 {
		t.Errorf("%d tickets were added, %v, want 3", added, err)
	}
	if lease, err := s.Claim(t.Context(), benchClaim(9)); err != nil || len(lease.Entries) != 3 {
		t.Errorf("claimed %d entries, %v, want the 3 of the deleted lease", len(lease.Entries), err)
	}
}
