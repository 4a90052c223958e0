package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// L9: the database puts an entry into the lane that [queue.Retry] says.
func TestSchema_L9_LanesAreThoseOfTheQueue(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	for _, r := range []queue.Retry{queue.DefaultRetry, {Attempts: 2, HandOuts: 2}, {Attempts: 3, HandOuts: 5}, {Attempts: 10, HandOuts: 4}} {
		rows, err := g.other.Query(t.Context(), `SELECT a, a + u, b, waiting_lane(a, a + u, b, $1, $2)
			FROM generate_series(0, 12) AS a, generate_series(0, 60) AS u, unnest(ARRAY[true, false]) AS b`, r.Attempts, r.HandOuts)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var attempts, handOuts int
			var bulk bool
			var lane queue.Lane
			if err := rows.Scan(&attempts, &handOuts, &bulk, &lane); err != nil {
				t.Fatal(err)
			}
			if want := r.Lane(attempts, handOuts, bulk); lane != want {
				t.Errorf("%+v: lane %d for %d attempts, %d hand-outs, bulk %t, want %d", r, lane, attempts, handOuts, bulk, want)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// L9: suspects that came to lie behind the bound, as after the database's clock was
// set back, have their turn while fresh entries abound, also if no look at the whole
// queue happens to be a turn.
func TestClaim_L9_SuspectsBehindTheBoundHaveTheirTurn(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 200)
	g.mustClaim(t, askFor(4))
	const shift = "UPDATE ticket SET lane = 2, attempts = 1, hand_outs = 1, rank = rank - 3600000000 WHERE entry_id IN (SELECT min(entry_id) FROM ticket)"
	g.exec(t, shift)
	organismID, _, _ := g.Bound(storetest.WestNile, 1, queue.LaneSuspect)
	g.JustLooked(organismID, 1)
	for i := range 9 {
		lease := g.mustClaim(t, askFor(8))
		if len(lease.Entries) == 0 {
			t.Fatalf("claim %d found nothing", i)
		}
		if lease.Entries[0].Attempt == 2 {
			return
		}
	}
	t.Error("nine claims found only what is fresh, want the suspect's turn within eight")
}
