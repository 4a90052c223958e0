package sqlite

import (
	"context"
	"fmt"
	"testing"

	"github.com/seqlease/seqlease/internal/queue"
)

// The lanes that the statement computes are those of [queue.Retry.Lane].
func TestLeave_L9_LanesAreThoseOfTheDomain(t *testing.T) {
	t.Parallel()
	const attempts, uncounted = 6, 9 // entries have from 1 and from 0
	for _, retry := range []queue.Retry{queue.DefaultRetry, {Attempts: 2, HandOuts: 2}, {Attempts: 3, HandOuts: 5}, {Attempts: 100, HandOuts: 7}} {
		for _, counts := range []bool{true, false} {
			t.Run(fmt.Sprintf("%+v, counts %t", retry, counts), func(t *testing.T) {
				t.Parallel()
				s, _, _ := submitted(t, attempts*uncounted)
				lease, err := s.Claim(t.Context(), benchClaim(attempts*uncounted))
				if err != nil {
					t.Fatal(err)
				}
				mustExec(t, outsider(t, s), "UPDATE leased SET attempts = 1 + position / ?1, hand_outs = 1 + position / ?1 + position % ?1", uncounted)
				err = s.write(t.Context(), func(ctx context.Context, inner *tx) error {
					places, err := readPlaces(ctx, inner, "give_back_places", append(named("entries", int64(1000)), attempt(lease.AttemptID)))
					if err != nil {
						return err
					}
					_, err = leave(ctx, inner, retry, places, leaving{kind: queue.FailureGivenBack, uncounted: !counts})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				checkLanes(t, s, retry, attempts*uncounted)
			})
		}
	}
}

// checkLanes compares the lanes of so many tickets with what the domain says.
func checkLanes(t *testing.T, s *Store, retry queue.Retry, want int) {
	t.Helper()
	rows, err := outsider(t, s).QueryContext(t.Context(), "SELECT lane, attempts, hand_outs FROM ticket")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for ; rows.Next(); want-- {
		var lane queue.Lane
		var attempts, handOuts int
		if err := rows.Scan(&lane, &attempts, &handOuts); err != nil {
			t.Fatal(err)
		}
		if right := retry.Lane(attempts, handOuts, false); lane != right {
			t.Errorf("%d attempts and %d hand-outs are in lane %d, want %d", attempts, handOuts, lane, right)
		}
	}
	if err := rows.Err(); err != nil || want != 0 {
		t.Errorf("%d tickets are missing (%v)", want, err)
	}
}
