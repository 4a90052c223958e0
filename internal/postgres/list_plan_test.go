package postgres_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
)

// explained is the plan of a statement, run, on the stage's other connection.
func (g *stage) explained(t *testing.T, statement string, arguments pgx.StrictNamedArgs) planNode {
	t.Helper()
	var document []byte
	if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+statement, arguments).Scan(&document); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(document, &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

// Counting entries by group and state needs no row of entries or results, which hold
// documents: their indexes have it all.
func TestPlan_V8_EntriesAreCountedFromIndexes(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.processed(t, 30)
	g.exec(t, "UPDATE entry SET released_at = now(), approver = 'anna' WHERE id % 2 = 0")
	g.exec(t, "VACUUM ANALYZE")
	g.exec(t, "SET enable_seqscan = off")
	g.exec(t, "SET enable_bitmapscan = off")
	counted := 0
	g.explained(t, postgres.CountEntriesSQL, pgx.StrictNamedArgs{"organism": 2, "groups": []int64{g.group.GroupID}}).walk(func(p planNode) {
		if !slices.Contains([]string{"entry", "result"}, p.Relation) {
			return
		}
		if p.Type != "Index Only Scan" {
			t.Errorf("%s on %s, want an index only scan", p.Type, p.Relation)
		}
		counted += int(p.Rows)
	})
	if counted < 30+15 { // entries, and the results of those that aren't released
		t.Errorf("%d rows were read, want those of 30 entries and 15 results", counted)
	}
}

// The claims of an entry are found by the bounds of their ids: others aren't read.
func TestPlan_V8_ClaimsOfAnEntryAreFoundByTheirBounds(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 400)
	for range 40 {
		g.mustClaim(t, askFor(10))
	}
	g.exec(t, "VACUUM ANALYZE")
	id := g.ask(t, "SELECT min(id) + 205 FROM entry")
	g.exec(t, strings.ReplaceAll(postgres.PlanSettingsSQL, ", true)", ", false)")) // for the session
	var found float64
	g.explained(t, postgres.ClaimsOfSQL, pgx.StrictNamedArgs{"organism": 2, "id": id, "limit": 10}).walk(func(p planNode) {
		if p.Relation != "claim_record" {
			return
		}
		if !strings.Contains(p.Condition, "last_entry_id") || p.Removed > 0 {
			t.Errorf("claims are searched for %s, and %.0f dropped, want last_entry_id and none", p.Condition, p.Removed)
		}
		found += p.Rows
	})
	if found != 1 {
		t.Errorf("%.0f claims are read, want the one", found)
	}
}
