package postgres_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
)

// A plan of a chunk that was made while every table was empty, and is kept, reads
// its page by an index that begins with the organism, and nothing of the entries of
// others; no join grows with the square of the page.
func TestPlan_V3_AChunkReadsItsPageOnly(t *testing.T) {
	t.Parallel()
	const n = 1000
	for name, c := range map[string]struct {
		released bool
		index    string
	}{"unreleased": {false, "entry_unreleased"}, "released": {true, "entry_released"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			g.exec(t, "VACUUM ANALYZE")
			g.exec(t, strings.ReplaceAll(postgres.BackfillSettingsSQL, ", true)", ", false)")) // for the session
			g.exec(t, "SET plan_cache_mode = force_generic_plan")
			text, values, err := pgx.StrictNamedArgs{
				"organism": 2, "version": 2, "limit": n, "released": c.released, "after_id": 500, "after_accession": "Y000500", "after_version": 1,
				"bound_rank": 0, "bound_id": 0,
			}.RewriteQuery(t.Context(), g.other, postgres.BackfillSQL, nil)
			if err != nil {
				t.Fatal(err)
			}
			literals := make([]string, len(values))
			for i, v := range values {
				if literals[i] = fmt.Sprint(v); v == "Y000500" {
					literals[i] = "'Y000500'"
				}
			}
			execute := "EXECUTE chunk (" + strings.Join(literals, ", ") + ")"
			g.exec(t, "PREPARE chunk AS "+text)
			g.exec(t, "EXPLAIN "+execute) // plans it while nothing is there
			for organism, letter := range map[int]string{1: "X", 2: "Y"} {
				g.exec(t, fmt.Sprintf(`INSERT INTO entry (id, organism_id, accession, version, group_id, submitter, submission_id, dictionary_id, submitted, released_at, approver)
					SELECT n * 2 + %[1]d, %[1]d, '%[2]s' || lpad(n::text, 6, '0'), 1, n %% 7, 'x', 'x', 0, '',
						CASE WHEN %[3]t THEN now() END, CASE WHEN %[3]t THEN 'x' END
					FROM generate_series(1, 20000) AS n`, organism, letter, c.released))
			}
			g.exec(t, `INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
				SELECT organism_id, 2, 1, id, id FROM entry WHERE organism_id = 2 AND (id < 500 OR id > 5000 AND id % 3 = 0)`)
			g.exec(t, `INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision, claimed_by_sum, outcome, digest, body)
				SELECT 2, id, gen_random_uuid(), 0, now(), 2, 1, 0, 0, decode(md5(''), 'hex'), '' FROM entry WHERE organism_id = 2 AND id > 5000 AND id % 3 = 1`)
			before := g.ask(t, "SELECT count(*) FROM ticket")
			var document []byte
			if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+execute).Scan(&document); err != nil {
				t.Fatal(err)
			}
			var plans []struct{ Plan planNode }
			if err := json.Unmarshal(document, &plans); err != nil {
				t.Fatal(err)
			}
			wantPageOnly(t, plans[0].Plan, n)
			if !strings.Contains(string(document), `"`+c.index+`"`) {
				t.Errorf("the plan doesn't use %s", c.index)
			}
			if added := g.ask(t, "SELECT count(*) FROM ticket") - before; added != n {
				t.Errorf("%d tickets were added, want %d", added, n)
			}
		})
	}
}

// wantPageOnly checks that no node does more than a page of n entries needs.
func wantPageOnly(t *testing.T, plan planNode, n float64) {
	t.Helper()
	plan.walk(func(p planNode) {
		if p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan" {
			t.Errorf("%s on %s", p.Type, p.Relation)
		}
		if p.Relation == "entry" && p.Rows*p.Loops > n {
			t.Errorf("%s reads %.0f entries, want at most %.0f", p.Type, p.Rows*p.Loops, n)
		}
		if p.Relation == "entry" && p.Removed > 0 {
			t.Errorf("%s drops %.0f entries", p.Type, p.Removed)
		}
		if all := (p.Rows + p.Removed) * p.Loops; all > 20*n {
			t.Errorf("%s on %q yields %.0f rows for a page of %.0f", p.Type, p.Relation, all, n)
		}
	})
}
