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
	"github.com/seqlease/seqlease/internal/queue"
)

// planNode is a node of EXPLAIN (ANALYZE, FORMAT JSON).
type planNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Condition string     `json:"Index Cond"`
	Rows      float64    `json:"Actual Rows"`
	Loops     float64    `json:"Actual Loops"`
	Removed   float64    `json:"Rows Removed by Filter"`
	Unjoined  float64    `json:"Rows Removed by Join Filter"`
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
	for name, c := range map[string]struct {
		text             string
		arguments        pgx.StrictNamedArgs
		scans, untouched int
	}{
		// Each of the four rounds has a scan by index and one by place. Only that of the
		// fresh entries is begun, and once: the other stretches aren't looked at.
		"claim":       {postgres.ClaimSQL, claimArguments(2, n, 200, 0), 8, 3},
		"claim_fresh": {postgres.ClaimFreshSQL, claimFreshArguments(2, n, 200, 0), 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			kept := g.keep(t, postgres.ClaimSettingsSQL, c.text, c.arguments)
			submitN(t, g.Store, g.group.GroupID, 5000)
			if id := g.ask(t, "SELECT organism_id FROM entry LIMIT 1"); id != 2 {
				t.Fatalf("the organism has id %d, want 2", id)
			}
			checkTicketScans(t, kept(t), n, c.scans, c.untouched)
			if left := g.ask(t, "SELECT count(*) FROM ticket"); left != 5000-n {
				t.Errorf("%d tickets are left, want %d", left, 5000-n)
			}
		})
	}
}

// checkTicketScans wants that many scans of ticket, by index and by place, some of
// which are never begun, and one that is.
func checkTicketScans(t *testing.T, plan planNode, n float64, wantScans, wantUntouched int) {
	t.Helper()
	var scans, untouched int
	var begun float64
	plan.walk(func(p planNode) {
		if p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan" {
			t.Errorf("%s on %s", p.Type, p.Relation)
		}
		if p.Type == "Sort" && p.Rows > n {
			t.Errorf("sorts %.0f rows", p.Rows)
		}
		if p.Relation != "ticket" || !strings.Contains(p.Type, "Scan") {
			return
		}
		scans++
		if p.Rows > n || p.Removed > 0 {
			t.Errorf("%s on ticket reads %.0f rows and drops %.0f, want at most %.0f and 0", p.Type, p.Rows, p.Removed, n)
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
	})
	if scans != wantScans || untouched != wantUntouched || begun != 1 {
		t.Errorf("%d scans of ticket, %d by index never begun and %.0f begun, want %d, %d and 1", scans, untouched, begun, wantScans, wantUntouched)
	}
}

// keep has the statement planned, once and for all, on the stage's other
// connection. What it returns runs it.
func (g *stage) keep(t *testing.T, settings, sql string, arguments pgx.StrictNamedArgs) func(t *testing.T) planNode {
	t.Helper()
	g.exec(t, "VACUUM ANALYZE")
	g.exec(t, strings.ReplaceAll(settings, ", true)", ", false)")) // for the session
	g.exec(t, "SET plan_cache_mode = force_generic_plan")
	text, execute := prepared(t, g.other, sql, arguments)
	g.exec(t, text)
	g.exec(t, "EXPLAIN "+execute)
	return func(t *testing.T) planNode {
		t.Helper()
		var document []byte
		if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+execute).Scan(&document); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal(document, &plans); err != nil {
			t.Fatal(err)
		}
		return plans[0].Plan
	}
}

// A submission finds its lease by the attempt's key and its entries by theirs,
// though all was planned while there were none: else each would go through all
// leases of the version, dead ones included.
func TestAccept_L3_KeptPlanLooksUpByKey(t *testing.T) {
	t.Parallel()
	for name, text := range postgres.AcceptStatements {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			kept := g.keep(t, postgres.AcceptSettingsSQL, text, postgres.AcceptArguments(name, 2, answer(queue.Lease{
				AttemptID: theAttempt, Entries: []queue.ClaimedEntry{{AccessionVersion: seqlease.AccessionVersion{Accession: "A", Version: 1}}},
			}, []byte{1})))
			made := submitN(t, g.Store, g.group.GroupID, 50)
			for range 4 {
				g.mustClaim(t, askFor(10))
			}
			g.exec(t, "UPDATE lease SET attempt_id = '"+theAttempt.String()+"' WHERE attempt_id = (SELECT min(attempt_id::text)::uuid FROM lease)")
			g.exec(t, "UPDATE entry SET accession = 'A' WHERE id = (SELECT entry_ids[1] FROM lease WHERE attempt_id = '"+theAttempt.String()+"')")
			looked := map[string]int{}
			kept(t).walk(func(p planNode) {
				if p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan" {
					t.Errorf("%s on %s", p.Type, p.Relation)
				}
				if p.Type != "Index Scan" || p.Loops == 0 {
					return
				}
				if key := map[string]string{"lease": "attempt_id", "entry": "accession"}[p.Relation]; key != "" {
					looked[p.Relation]++
					if !strings.Contains(p.Condition, key) || p.Rows > 1 || p.Removed > 0 {
						t.Errorf("%s is searched for %s, reads %.0f rows and drops %.0f, want %s, 1 and 0", p.Relation, p.Condition, p.Rows, p.Removed, key)
					}
				}
			})
			if looked["lease"] < 2 || looked["entry"] != 1 { // to lock it, and to cut it
				t.Errorf("lookups: %v, want 2 or more of the lease and 1 of the entry", looked)
			}
			g.wantCounts(t, map[string]int64{"result": 1, "(SELECT unnest(entry_ids) FROM lease) AS held": 39, "entry": int64(len(made))})
		})
	}
}

// theAttempt is one that a statement can be planned for before it claims.
var theAttempt = seqlease.NewAttemptID()

// claimArguments are those of a claim that looks at leases of any age, too.
func claimArguments(organismID int32, n int, rank, id int64) pgx.StrictNamedArgs {
	return postgres.ClaimArguments(organismID, n, rank, id, pgx.StrictNamedArgs{
		"organism": organismID, "version": 1, "probe": true,
		"probe_from": pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true},
		"attempt":    seqlease.NewAttemptID().String(), "seconds": 600, "claimed_by": "pipeline", "worker_id": "w", "payload": 8 << 20,
		"max_attempts": 5, "max_hand_outs": 50,
	})
}

// claimFreshArguments are those of a claim of fresh entries alone.
func claimFreshArguments(organismID int32, n int, rank, id int64) pgx.StrictNamedArgs {
	return postgres.ClaimFreshArguments(rank, id, pgx.StrictNamedArgs{
		"n": n, "organism": organismID, "version": 1, "payload": 8 << 20, "starts": []int64{1},
		"attempts": []string{seqlease.NewAttemptID().String()}, "seconds": []int64{600}, "claimed_by": []string{"pipeline"}, "worker_ids": []string{"w"},
	})
}

// prepared returns PREPARE and EXECUTE for the statement with the arguments.
func prepared(t *testing.T, c *pgx.Conn, sql string, arguments pgx.StrictNamedArgs) (prepare, execute string) {
	t.Helper()
	text, values, err := arguments.RewriteQuery(t.Context(), c, sql, nil)
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
		case []string:
			literals[i] = arrayLiteral(v)
		case [][]byte:
			literals[i] = "'{" + strings.Repeat(`"\\x00000000000000000000000000000000"`, len(v)) + "}'"
		case []pgtype.UUID:
			literals[i] = "'{" + theAttempt.String() + "}'"
			if len(v) == 0 {
				literals[i] = "'{}'"
			}
		case []bool:
			literals[i] = arrayLiteral(v)
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
