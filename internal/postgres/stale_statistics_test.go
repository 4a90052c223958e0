package postgres_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// TestPlans_B035_StatisticsFromBeforeAnythingWasReleased: rows are looked up by their
// keys also where the statistics say that nothing is released, or nothing spent. Then an
// index of what is so looks like the shorter way, and each look-up goes through all of
// it: 33,000 revocations took four minutes.
func TestPlans_B035_StatisticsFromBeforeAnythingWasReleased(t *testing.T) {
	t.Parallel()
	const n = 2000
	candidate := pgx.StrictNamedArgs{"organism": 2, "current": 1, "version": 2}
	look := maps.Clone(candidate)
	look["after"], look["limit"] = 0, n
	for name, c := range map[string]struct {
		text      string
		arguments func(ids []int64) pgx.StrictNamedArgs
	}{
		"revoke": {postgres.RevokeSQL, func(ids []int64) pgx.StrictNamedArgs {
			return pgx.StrictNamedArgs{"organism": 2, "ids": ids, "user": "anna", "dictionary": 0, "submitted": "\\x00"}
		}},
		"released_among": {postgres.ReleasedAmongSQL, func(ids []int64) pgx.StrictNamedArgs {
			return pgx.StrictNamedArgs{"organism": 2, "versions": slices.Repeat([]int64{1}, n), "ids": ids}
		}},
		"take_spent": {postgres.TakeSpentSQL, func(ids []int64) pgx.StrictNamedArgs {
			return pgx.StrictNamedArgs{
				"organism": 2, "ids": ids, "versions": slices.Repeat([]int64{2}, n), "attempts": slices.Repeat([]int64{5}, n), "hand_outs": slices.Repeat([]int64{5}, n),
			}
		}},
		"delete_entries": {postgres.DeleteEntriesSQL, func(ids []int64) pgx.StrictNamedArgs { return pgx.StrictNamedArgs{"organism": 2, "ids": ids} }},
		"reprocess": {postgres.ReprocessSQL, func(ids []int64) pgx.StrictNamedArgs {
			return pgx.StrictNamedArgs{"organism": 2, "version": 1, "ids": ids, "after_rank": 0, "after_id": 0}
		}},
		"find_blocker": {postgres.FindBlockerSQL, func([]int64) pgx.StrictNamedArgs { return look }},
		"may_switch":   {postgres.MaySwitchSQL, func([]int64) pgx.StrictNamedArgs { return candidate }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			submitN(t, g.Store, g.group.GroupID, n)
			if id := g.ask(t, "SELECT organism_id FROM entry LIMIT 1"); id != 2 {
				t.Fatalf("the organism has id %d, want 2", id)
			}
			var ids []int64
			if err := g.other.QueryRow(t.Context(), "SELECT array_agg(id ORDER BY id) FROM entry").Scan(&ids); err != nil {
				t.Fatal(err)
			}
			kept := g.keep(t, postgres.PlanSettingsSQL, c.text, c.arguments(ids))
			if err := only(g.AcceptResults(t.Context(), answer(g.mustClaim(t, askFor(n)), []byte("x")))); err != nil {
				t.Fatal(err)
			}
			if approved, err := g.Approve(t.Context(), submission.Approval{Organism: storetest.WestNile, Approver: "anna"}); err != nil || len(approved) != n {
				t.Fatalf("approved %d: %v", len(approved), err)
			}
			g.secondVersion(t)
			g.exec(t, "UPDATE ticket SET lane = 4, attempts = 5, hand_outs = 5")
			g.exec(t, "INSERT INTO data_use_terms (accession, restricted, user_name) SELECT 'other ' || accession, false, 'anna' FROM entry")
			g.exec(t, "INSERT INTO quarantine (pipeline_version, entry_id, organism_id, attempts, hand_outs, operator, reason) SELECT 1, id + 1000000, 2, 1, 1, '', '' FROM entry")
			g.exec(t, `INSERT INTO entry (id, version, group_id, dictionary_id, organism_id, accession, submission_id, submitter, submitted)
				SELECT id + 1000000, 2, group_id, 0, 1, 'other ' || accession, 's', 'anna', '' FROM entry`)
			kept(t).walk(func(p planNode) {
				if passed := (p.Removed + p.Unjoined) * p.Loops; passed > n {
					t.Errorf("%s on %s (%s) passed %.0f rows", p.Type, p.Relation, p.Condition, passed)
				}
				if p.Type == "Index Scan" && p.Rows*p.Loops > 3*n {
					t.Errorf("%s on %s (%s) found %.0f rows", p.Type, p.Relation, p.Condition, p.Rows*p.Loops)
				}
			})
		})
	}
}
