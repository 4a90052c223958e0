package postgres_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
)

// planNode is a node of EXPLAIN (ANALYZE, FORMAT JSON).
type planNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Condition string     `json:"Index Cond"`
	Rows      float64    `json:"Actual Rows"`
	Loops     float64    `json:"Actual Loops"`
	Removed   float64    `json:"Rows Removed by Filter"`
	Hit       int64      `json:"Shared Hit Blocks"`
	Read      int64      `json:"Shared Read Blocks"`
	Plans     []planNode `json:"Plans"`
}

func (n planNode) walk(visit func(planNode)) {
	visit(n)
	for _, child := range n.Plans {
		child.walk(visit)
	}
}

// A plan that was made while every table was empty, and is kept, must still be
// right with a backlog: it touches n tickets by index, sorts no more than n
// rows, and doesn't look behind the bound when enough lies ahead.
func TestClaim_L2_KeptPlanTouchesOnlyWhatItTakes(t *testing.T) {
	t.Parallel()
	const n = 100
	g := newStage(t)
	g.exec(t, "VACUUM ANALYZE")
	g.exec(t, "BEGIN")
	g.exec(t, strings.ReplaceAll(postgres.ClaimSettingsSQL, ", true)", ", false)")) // for the session
	g.exec(t, "COMMIT")
	g.exec(t, "SET plan_cache_mode = force_generic_plan")
	text, execute := prepared(t, g.other, claimArguments(2, n, 200, 0))
	g.exec(t, text)
	g.exec(t, "EXPLAIN "+execute) // plans it while nothing is there
	submitN(t, g.Store, g.group.GroupID, 5000)
	if id := g.ask(t, "SELECT organism_id FROM entry LIMIT 1"); id != 2 {
		t.Fatalf("the organism has id %d, want 2", id)
	}

	var document []byte
	if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+execute).Scan(&document); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(document, &plans); err != nil {
		t.Fatal(err)
	}
	var ticketScans, untouched int
	var begun float64
	plans[0].Plan.walk(func(p planNode) {
		if p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan" {
			t.Errorf("%s on %s", p.Type, p.Relation)
		}
		if p.Type == "Sort" && p.Rows > n {
			t.Errorf("sorts %.0f rows", p.Rows)
		}
		if p.Relation == "ticket" && strings.Contains(p.Type, "Scan") {
			ticketScans++
			if p.Rows > n || p.Removed > 0 {
				t.Errorf("%s on ticket reads %.0f rows and drops %.0f, want at most %d and 0", p.Type, p.Rows, p.Removed, n)
			}
			if p.Type == "Index Scan" {
				begun += p.Loops
				if p.Loops == 0 {
					untouched++
				}
				for _, part := range []string{"organism_id = ", "pipeline_version = ", "lane = ", "ROW(rank, entry_id) > ", "ROW(rank, entry_id) <= "} {
					if !strings.Contains(p.Condition, part) {
						t.Errorf("the index on ticket is searched for %s, want %s in it", p.Condition, part)
					}
				}
			}
		}
	})
	// Each of the four rounds has a scan by index and one by place. Only that of the
	// fresh entries is begun, and once: the other stretches aren't looked at.
	if ticketScans != 8 || untouched != 3 || begun != 1 {
		t.Errorf("%d scans of ticket, %d by index never begun and %.0f begun, want 8, 3 and 1:\n%s", ticketScans, untouched, begun, document)
	}
	if left := g.ask(t, "SELECT count(*) FROM ticket"); left != 5000-n {
		t.Errorf("%d tickets are left, want %d", left, 5000-n)
	}
}

// claimArguments are those of a claim that looks at leases of any age, too.
func claimArguments(organismID int32, n int, rank, id int64) pgx.StrictNamedArgs {
	return postgres.ClaimArguments(organismID, n, rank, id, pgx.StrictNamedArgs{
		"organism": organismID, "version": 1, "probe": true,
		"probe_from": pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true},
		"attempt":    seqlease.NewAttemptID().String(), "seconds": 600, "claimed_by": "pipeline", "worker_id": "w", "payload": 8 << 20,
		"max_attempts": 5, "max_hand_outs": 50,
	})
}

// prepared returns PREPARE and EXECUTE for the claim with the arguments.
func prepared(t *testing.T, c *pgx.Conn, arguments pgx.StrictNamedArgs) (prepare, execute string) {
	t.Helper()
	text, values, err := arguments.RewriteQuery(t.Context(), c, postgres.ClaimSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	literals := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			literals[i] = "'" + v + "'"
		case pgtype.Timestamptz:
			literals[i] = "'-infinity'"
		case []int16:
			literals[i] = arrayLiteral(v)
		case []int64:
			literals[i] = arrayLiteral(v)
		default:
			literals[i] = fmt.Sprint(v)
		}
	}
	return "PREPARE claim AS " + text, "EXECUTE claim (" + strings.Join(literals, ", ") + ")"
}

func arrayLiteral[T any](list []T) string {
	return "'{" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ","), "[]") + "}'"
}

// B026: whatever way of joining the planner prefers, no more is taken than asked for.
func TestClaim_L2_B026_LimitHoldsInEveryPlan(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		"", "&enable_hashjoin=off", "&enable_nestloop=off", "&enable_nestloop=off&enable_mergejoin=off", "&enable_nestloop=off&enable_hashjoin=off",
		"&enable_material=off&enable_hashjoin=off&enable_mergejoin=off", "&enable_tidscan=off", "&enable_indexscan=off&enable_tidscan=off",
		"&plan_cache_mode=force_generic_plan", "&plan_cache_mode=force_custom_plan", "&cpu_tuple_cost=10&random_page_cost=0.01",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			h := newHarness(settings, postgres.Options{})
			s := h.open(t)
			group := register(t, s)
			submitN(t, s, group.GroupID, 30)
			for range 3 {
				lease, err := s.Claim(t.Context(), askFor(7))
				if err != nil || len(lease.Entries) != 7 {
					t.Fatalf("claimed %d entries, %v, want 7", len(lease.Entries), err)
				}
			}
			var waiting, held int
			err := s.Pool().QueryRow(t.Context(), "SELECT (SELECT count(*) FROM ticket), (SELECT sum(cardinality(entry_ids)) FROM lease)").Scan(&waiting, &held)
			if err != nil || waiting != 9 || held != 21 {
				t.Errorf("%d wait and %d are held, %v, want 9 and 21", waiting, held, err)
			}
			// Entries of ended leases are suspects: never beside fresh ones, and no more
			// than an eighth of what was asked for.
			if _, err := s.Pool().Exec(t.Context(), "UPDATE lease SET lease_until = now() - interval '1 second'"); err != nil {
				t.Fatal(err)
			}
			s.Forget()
			for _, want := range []int{9, 2, 2} {
				lease, err := s.Claim(t.Context(), askFor(12))
				if err != nil || len(lease.Entries) != want {
					t.Errorf("claimed %d entries, %v, want %d", len(lease.Entries), err, want)
				}
			}
		})
	}
}

// B026: nor does it matter what the planner believes of the tables.
func TestClaim_L2_B026_LimitHoldsWhateverTheStatisticsSay(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"never analysed": {"UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')"},
		"zeroed":         {"UPDATE pg_class SET relpages = 0, reltuples = 0 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')"},
		"huge":           {"UPDATE pg_class SET relpages = 10, reltuples = 1e9 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')"},
		"analysed":       {"ANALYZE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			for _, table := range []string{"ticket", "lease", "entry"} { // else the statistics may come back
				g.exec(t, "ALTER TABLE "+table+" SET (autovacuum_enabled = off)")
			}
			submitN(t, g.Store, g.group.GroupID, 400)
			if name != "analysed" {
				g.exec(t, "DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)")
			}
			run(t, g.other, statements...)
			taken := int64(0)
			for range 3 {
				for _, n := range []int{1, 3, 100} {
					if got := len(g.mustClaim(t, askFor(n)).Entries); got != n {
						t.Errorf("claimed %d entries, want %d", got, n)
					}
					taken += int64(n)
					g.wantCounts(t, map[string]int64{"ticket": 400 - taken, "(SELECT unnest(entry_ids) FROM lease) AS held": taken})
				}
			}
		})
	}
}
