package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// Uploads leave one note each, with how many entries and from where to where.
func TestAudit_UploadsLeaveOneNote(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{}).open(t)
	group := register(t, s).GroupID
	made, err := s.Submit(t.Context(), smallUpload(s, group, 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pool().Exec(t.Context(), "UPDATE entry SET approver = 'root', released_at = submitted_at"); err != nil {
		t.Fatal(err)
	}
	again := smallUpload(s, group, 2)
	_, err = s.Revise(t.Context(), submission.Revision{
		Organism: storetest.WestNile, Submitter: "carla", Accessions: []seqlease.Accession{made[2].Accession, made[0].Accession}, Entries: again.Entries,
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Pool().Query(t.Context(), "SELECT user_name, action, organism_id > 0, group_id, entries, detail FROM audit WHERE action IN ('submit', 'revise') ORDER BY number")
	if err != nil {
		t.Fatal(err)
	}
	type note struct {
		User, Action string
		Organism     bool
		Group        int64
		Entries      int64
		Detail       string
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[note])
	if err != nil {
		t.Fatal(err)
	}
	first, last := string(made[0].Accession), string(made[2].Accession)
	want := []note{
		{again.Submitter, "submit", true, group, 3, first + ".1 to " + last + ".1"},
		{"carla", "revise", true, group, 2, first + ".2 to " + last + ".2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
