package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// L14: that nothing was behind the bounds at the end of the queue holds at that mark
// only: what another server puts back there is found, though no look at the whole
// queue is due.
func TestClaim_L14_WhatAnotherServerPutsBehindTheBoundIsFound(t *testing.T) {
	t.Parallel()
	h := newHarness("", postgres.Options{})
	s := h.open(t)
	other := h.join(t, h.databaseOf(s))
	group := register(t, s)
	register(t, other)
	submitN(t, s, group.GroupID, 5)
	organismID, _, _ := s.Bound(storetest.WestNile, 1, 0)
	claim := func(n, want int) queue.Lease {
		t.Helper()
		lease, err := s.Claim(t.Context(), askFor(n))
		if err != nil || len(lease.Entries) != want {
			t.Fatalf("claimed %d entries of %d, %v, want %d", len(lease.Entries), n, err, want)
		}
		return lease
	}
	lease := claim(5, 5)
	claim(5, 0) // the end
	submitN(t, other, group.GroupID, 1)
	claim(5, 1) // and on
	if _, err := other.GiveBack(t.Context(), returned(lease)); err != nil {
		t.Fatal(err)
	}
	_, rank, id := s.Bound(storetest.WestNile, 1, 0)
	var behind int
	const count = "SELECT count(*) FROM ticket WHERE lane = 0 AND (rank, entry_id) <= ($1, $2)"
	if err := s.Pool().QueryRow(t.Context(), count, rank, id).Scan(&behind); err != nil || behind == 0 {
		t.Fatalf("%d tickets lie behind the bound, %v: this test shows nothing", behind, err)
	}
	s.JustLooked(organismID, 1)
	claim(10, 5)
}
