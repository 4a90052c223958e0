package postgres_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// Trap 3: while an old snapshot is open, the tickets that were taken since stay
// as dead rows. A claim from the start wades through all of them; the bound that
// the store keeps spares it that, and finds as much.
func TestClaim_L2_BoundSkipsDeadTicketsBehindAnOldSnapshot(t *testing.T) {
	t.Parallel()
	const done, batch, waiting = 5000, 250, 1000
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, done+waiting)
	old := connect(t, g.address)
	run(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM ticket")
	for range done / batch {
		if _, err := g.AcceptResults(t.Context(), packedAnswer(g.Store, g.mustClaim(t, askFor(batch)))); err != nil {
			t.Fatal(err)
		}
	}
	g.exec(t, "VACUUM ticket") // it can't help
	organismID, rank, id := g.Bound(storetest.WestNile, 1, queue.LaneFresh)
	if last := g.ask(t, "SELECT max(entry_id) FROM result"); id != last {
		t.Errorf("the bound is entry %d, want %d, the last one that was claimed", id, last)
	}
	bounded, fromStart := g.claimBuffers(t, organismID, rank, id), g.claimBuffers(t, organismID, 0, 0)
	t.Logf("buffers: %d with the bound, %d from the start", bounded, fromStart)
	if bounded == 0 || bounded*5 > fromStart {
		t.Errorf("a claim touches %d buffers to find tickets, %d from the start; want at least 5 times fewer", bounded, fromStart)
	}
	run(t, old, "COMMIT")
}

// claimBuffers makes a claim of 100, undoes it, and returns how many buffers
// were touched to find its tickets.
func (g *stage) claimBuffers(t *testing.T, organismID int32, rank, id int64) (buffers int64) {
	t.Helper()
	const n = 100
	text, execute := prepared(t, g.other, postgres.ClaimSQL, claimArguments(organismID, n, rank, id))
	run(t, g.other, "BEGIN", postgres.ClaimSettingsSQL, text)
	var document []byte
	if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+execute).Scan(&document); err != nil {
		t.Fatal(err)
	}
	run(t, g.other, "ROLLBACK", "DEALLOCATE claim")
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(document, &plans); err != nil {
		t.Fatal(err)
	}
	var found float64
	plans[0].Plan.walk(func(p planNode) {
		if p.Relation == "ticket" && slices.Contains([]string{"Index Scan", "Index Only Scan"}, p.Type) {
			buffers += p.Hit + p.Read
			found += p.Rows * p.Loops
		}
	})
	if found != n {
		t.Errorf("a claim beyond rank %d found %.0f tickets, want %d:\n%s", rank, found, n, document)
	}
	return buffers
}
