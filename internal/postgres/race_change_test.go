package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// Race 3: what a claim took while everything was being deleted stays, with all that
// belongs to it; what else was deleted is gone.
func TestRace_L10_DeletionLeavesWhatACommittingClaimTook(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 3)
	g.secondVersion(t)
	g.stopAt(t, "BEFORE INSERT ON lease")
	claimed := later(func() error {
		_, err := g.Claim(context.Background(), askFor(1))
		return err
	})
	g.awaitStopped(t, 1)
	var gone []seqlease.AccessionVersion
	deleted := later(func() (err error) {
		gone, err = g.Delete(context.Background(), submission.Deletion{Organism: storetest.WestNile, User: "anna", Scope: seqlease.DeleteAll})
		return err
	})
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-claimed, <-deleted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(versions[1:], gone); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int64{
		"SELECT count(*) FROM entry":                                               1,
		"SELECT sum(cardinality(entry_ids)) FROM lease":                            1,
		"SELECT count(*) FROM ticket WHERE pipeline_version = 1":                   0,
		"SELECT count(*) FROM cut":                                                 0, // it was undone that the lease was cut
		"SELECT count(*) FROM audit WHERE action = 'delete'":                       2,
		"SELECT count(*) FROM ticket WHERE entry_id NOT IN (SELECT id FROM entry)": 0,
	} {
		if got := g.ask(t, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// A claim that took a named entry meanwhile refuses the deletion as a whole.
func TestRace_L10_DeletionOfANamedEntryIsRefusedForACommittingClaim(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 2)
	g.stopAt(t, "BEFORE INSERT ON lease")
	claimed := later(func() error {
		_, err := g.Claim(context.Background(), askFor(1))
		return err
	})
	g.awaitStopped(t, 1)
	deleted := later(func() error { return remove(context.Background(), g.Store, versions) })
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := <-claimed; err != nil {
		t.Fatal(err)
	}
	var state *submission.StateError
	err := <-deleted
	if !errors.As(err, &state) || len(state.WrongStatus) != 1 || state.WrongStatus[versions[0]] != seqlease.InProcessing {
		t.Errorf("the deletion was answered %v, want that %s is in processing", err, versions[0])
	}
	if n := g.ask(t, "SELECT count(*) FROM entry"); n != 2 {
		t.Errorf("%d entries are left, want both", n)
	}
}

// revision is another version of every entry, which may be released.
const revision = `INSERT INTO entry (id, version, group_id, dictionary_id, organism_id, accession, submission_id, submitter, submitted, released_at, approver)
	SELECT nextval('entry_id'), version + 1, group_id, dictionary_id, organism_id, accession, submission_id, submitter, submitted, `

// Whoever adds a version at the same time as a revocation: exactly one of them is the
// next version, whether or not the other one locks anything.
func TestRace_RevokeAgainstANewVersionThatCommits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, other, end string
		version          seqlease.Version // of the revocation; 0: it is refused
	}{
		{"a revision that waits", revision + "NULL, NULL FROM entry", "COMMIT", 0},
		{"a revision that comes to nothing", revision + "NULL, NULL FROM entry", "ROLLBACK", 2},
		{"a revision that is released at once", revision + "now(), 'anna' FROM entry", "COMMIT", 3},
		{"a revision under the lock", "SELECT FROM entry FOR UPDATE; " + revision + "NULL, NULL FROM entry", "COMMIT", 0},
		{"a revision under the lock that is released at once", "SELECT FROM entry FOR UPDATE; " + revision + "now(), 'anna' FROM entry", "COMMIT", 3},
		{"a revision under the lock that comes to nothing", "SELECT FROM entry FOR UPDATE; " + revision + "NULL, NULL FROM entry", "ROLLBACK", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			versions := g.processed(t, 1)
			if _, err := g.Approve(t.Context(), submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll}); err != nil {
				t.Fatal(err)
			}
			g.exec(t, "BEGIN; "+tt.other)
			var made []seqlease.SubmissionIDMapping
			revoked := later(func() (err error) {
				made, err = g.Revoke(context.Background(), submission.Revocation{
					Organism: storetest.WestNile, User: "anna", Accessions: []seqlease.Accession{versions[0].Accession}, Data: []byte("{}"),
				})
				return err
			})
			g.awaitStopped(t, 1)
			g.exec(t, tt.end)
			switch err := <-revoked; {
			case tt.version == 0:
				var state *submission.StateError
				if !errors.As(err, &state) || len(state.WrongStatus) != 1 {
					t.Errorf("the revocation was answered %v, want a wrong status", err)
				}
			case err != nil || len(made) != 1 || made[0].Version != tt.version:
				t.Errorf("got %v and %v, want version %d", made, err, tt.version)
			}
			want := int64(1)
			if tt.version == 0 {
				want = 0
			}
			if n := g.ask(t, "SELECT count(*) FROM entry WHERE is_revocation"); n != want {
				t.Errorf("there are %d revocations, want %d", n, want)
			}
		})
	}
}

// The first edit keeps what was submitted first, later ones leave that as it is, and a
// deletion removes it.
func TestEdit_KeepsWhatWasSubmittedFirst(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	var first, dictionary []byte
	read := func() (kept, of []byte) {
		t.Helper()
		err := g.other.QueryRow(t.Context(), `SELECT o.submitted, o.dictionary_id::text::bytea FROM original_submission AS o JOIN entry AS e ON e.id = o.entry_id`).Scan(&kept, &of)
		if err != nil {
			t.Fatal(err)
		}
		return kept, of
	}
	err := g.other.QueryRow(t.Context(), "SELECT submitted, dictionary_id::text::bytea FROM entry ORDER BY id LIMIT 1").Scan(&first, &dictionary)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := g.editLater(versions[0])(); err != nil {
			t.Fatal(err)
		}
		if kept, of := read(); string(kept) != string(first) || string(of) != string(dictionary) {
			t.Errorf("kept %q of dictionary %s, want %q of %s", kept, of, first, dictionary)
		}
		if _, err := g.AcceptResults(t.Context(), answer(g.mustClaim(t, askFor(1)), []byte("x"))); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.ask(t, "SELECT count(*) FROM original_submission"); n != 1 {
		t.Errorf("%d entries are kept, want the edited one", n)
	}
	if err := remove(t.Context(), g.Store, versions); err != nil {
		t.Fatal(err)
	}
	if n := g.ask(t, "SELECT count(*) FROM original_submission"); n != 0 {
		t.Errorf("%d are kept after the deletion", n)
	}
}
