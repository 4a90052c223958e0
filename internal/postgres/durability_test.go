package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// Trap 6: a claim commits without waiting for the disk, since one that is lost is
// only made again; what people and pipelines were told is stored commits as the
// server is set. All calls share one connection, so nothing of a claim may stay.
func TestCommit_L2_L5_OnlyClaimsAreAsynchronous(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"on", "local"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			g := newStageOf(t, newHarness("&synchronous_commit="+setting, postgres.Options{MaxConnections: 1}))
			// Deferred triggers run last, with the setting that the commit obeys.
			run(t, g.other,
				"CREATE TABLE committed (tab text, setting text)",
				`CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					INSERT INTO committed VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$`)
			for _, table := range []string{"entry", "lease", "result"} {
				g.exec(t, "CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON "+table+
					" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_setting()")
			}
			var lease queue.Lease
			for _, step := range []struct {
				name, table, want string
				do                func() error
			}{
				{"submit", "entry", setting, func() error { _, err := g.Submit(t.Context(), smallUpload(g.Store, g.group.GroupID, 3)); return err }},
				{"claim", "lease", "off", func() (err error) { lease, err = g.Claim(t.Context(), askFor(3)); return err }},
				{"accept", "result", setting, func() error { return only(g.AcceptResults(t.Context(), packedAnswer(g.Store, lease))) }},
				{"approve", "entry", setting, func() error {
					_, err := g.Approve(t.Context(), submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll})
					return err
				}},
			} {
				g.exec(t, "TRUNCATE committed")
				if err := step.do(); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				rows, err := g.other.Query(t.Context(), "SELECT DISTINCT tab || ' ' || setting FROM committed")
				if err != nil {
					t.Fatal(err)
				}
				got, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{step.table + " " + step.want}, got); diff != "" {
					t.Errorf("%s commits with (-want +got):\n%s", step.name, diff)
				}
			}
		})
	}
}
