package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
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
