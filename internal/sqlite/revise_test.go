package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// releasedEntries stores n entries and makes them released behind the store's back.
func releasedEntries(t testing.TB, s *Store, n int) []seqlease.AccessionVersion {
	t.Helper()
	u, err := prepareUpload(t.Context(), s, n)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := s.Submit(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, outsider(t, s), "UPDATE entry SET approver = 'root', released_at = submitted_at")
	return versionsOf(mapping)
}

// revisionOf is an upload of the next versions.
func revisionOf(s *Store, versions []seqlease.AccessionVersion) submission.Revision {
	r := submission.Revision{Organism: storetest.WestNile, Submitter: "anna", Entries: benchEntries(s, len(versions))}
	for _, av := range versions {
		r.Accessions = append(r.Accessions, av.Accession)
	}
	return r
}

// A server that ends in the midst of a revision leaves nothing that the next one
// doesn't remove: the same entries can be revised.
func TestOpen_L1_LeftoversOfARevisionAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	versions := releasedEntries(t, s, 2*partEntries+1)
	rev := &revision{Revision: revisionOf(s, versions)}
	if err := s.look(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), rev.begin); err != nil {
		t.Fatal(err)
	}
	if err := s.storeParts(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	// A second one of the same entries can't be stored over it, nor is it an accident.
	second := &revision{Revision: revisionOf(s, versions[:1])}
	if err := s.look(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if _, err := s.storeUpload(t.Context(), second, keptKey{}); !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("a revision over one that wasn't published: %v, want that the store is busy", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	db := outsider(t, s)
	for query, want := range map[string]int{
		"SELECT count(*) FROM upload": 0, "SELECT count(*) FROM upload_run": 0,
		"SELECT count(*) FROM entry": len(versions), "SELECT count(*) FROM submitted": len(versions),
		"SELECT count(*) FROM data_use_terms": len(versions),
	} {
		var n int
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, %v; want %d", query, n, err, want)
		}
	}
	made, err := s.Revise(t.Context(), revisionOf(s, versions))
	if err != nil || len(made) != len(versions) || made[0].Version != 2 {
		t.Errorf("revised %d entries, %v; want %d with version 2", len(made), err, len(versions))
	}
}

// Uploads leave one note each, with how many entries and from where to where.
func TestAudit_UploadsLeaveOneNote(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	versions := releasedEntries(t, s, 3)
	if _, err := s.Revise(t.Context(), revisionOf(s, []seqlease.AccessionVersion{versions[2], versions[0]})); err != nil {
		t.Fatal(err)
	}
	rows, err := outsider(t, s).QueryContext(t.Context(), "SELECT user_name, action, organism_id, group_id, entries, detail FROM audit WHERE action IN ('submit', 'revise') ORDER BY number")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports what went wrong
	type note struct {
		user, action             string
		organism, group, entries int64
		detail                   string
	}
	var got []note
	for rows.Next() {
		var n note
		if err := rows.Scan(&n.user, &n.action, &n.organism, &n.group, &n.entries, &n.detail); err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("notes %+v, want two", got)
	}
	first, last := versions[0].Accession, versions[2].Accession
	want := []note{
		{"anna", "submit", got[0].organism, 1, 3, string(first) + ".1 to " + string(last) + ".1"},
		{"anna", "revise", got[0].organism, 1, 2, string(first) + ".2 to " + string(last) + ".2"},
	}
	if got[0] != want[0] || got[1] != want[1] || got[0].organism == 0 {
		t.Errorf("notes %+v, want %+v", got, want)
	}
}
