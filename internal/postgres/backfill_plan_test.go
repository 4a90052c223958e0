package postgres_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
)

// A plan of a chunk's page that was made while every table was empty, and is kept,
// reads the page by an index that begins with the organism, and nothing of the
// entries of others; nothing grows with the square of the page.
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
			g.exec(t, "PREPARE page AS "+pageStatement(t, g, 0, n, c.released)[0])
			g.exec(t, "EXPLAIN "+pageStatement(t, g, 0, n, c.released)[1]) // plans it while nothing is there
			g.manyEntries(t, c.released)
			for after, wanted := range map[int]int{
				501:   n,           // nothing is there yet
				6000:  (n + 2) / 3, // some are there
				20000: (n + 2) / 3, // some are there, and as many of the other organism
			} {
				execute := pageStatement(t, g, after, n, c.released)[1]
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
				var ids []int64
				if err := g.other.QueryRow(t.Context(), execute).Scan(nil, nil, nil, nil, &ids, nil); err != nil {
					t.Fatal(err)
				}
				if d := len(ids) - wanted; d < -1 || d > 1 {
					t.Errorf("%d of %d entries after %d lack a ticket, want about %d", len(ids), n, after, wanted)
				}
			}
		})
	}
}

// pageStatement returns the statement that finds a page of organism 2, and the one
// that executes it when it is prepared.
func pageStatement(t *testing.T, g *stage, after, n int, released bool) [2]string {
	t.Helper()
	accession := fmt.Sprintf("Y%06d", after/2)
	text, values, err := pgx.StrictNamedArgs{
		"organism": 2, "version": 2, "limit": n, "released": released, "after_id": after, "after_accession": accession, "after_version": 1,
	}.RewriteQuery(t.Context(), g.other, postgres.FindBackfillSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	literals := make([]string, len(values))
	for i, v := range values {
		if literals[i] = fmt.Sprint(v); v == accession {
			literals[i] = "'" + accession + "'"
		}
	}
	return [2]string{text, "EXECUTE page (" + strings.Join(literals, ", ") + ")"}
}

// manyEntries makes 20,000 entries of each of two organisms, one by one. From 5,000
// on a third of those of the second wait in version 2 and a third are processed by
// it; from 20,000 on all of the first wait in theirs.
func (g *stage) manyEntries(t *testing.T, released bool) {
	t.Helper()
	for organism, letter := range map[int]string{1: "X", 2: "Y"} {
		g.exec(t, fmt.Sprintf(`INSERT INTO entry (id, organism_id, accession, version, group_id, submitter, submission_id, dictionary_id, submitted, released_at, approver)
			SELECT n * 2 + %[1]d, %[1]d, '%[2]s' || lpad(n::text, 6, '0'), 1, n %% 7, 'x', 'x', 0, '', CASE WHEN %[3]t THEN now() END, CASE WHEN %[3]t THEN 'x' END
			FROM generate_series(1, 20000) AS n`, organism, letter, released))
	}
	g.exec(t, `INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
		SELECT organism_id, 2, 1, id, id FROM entry WHERE organism_id = 2 AND (id < 500 OR id > 5000 AND id % 3 = 0) OR organism_id = 1 AND id > 20000`)
	g.exec(t, `INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision, claimed_by_sum, outcome, digest, body)
		SELECT 2, id, gen_random_uuid(), 0, now(), 2, 1, 0, 0, decode(md5(''), 'hex'), '' FROM entry WHERE organism_id = 2 AND id > 5000 AND id % 3 = 1`)
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
