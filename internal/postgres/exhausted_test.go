package postgres_test

import (
	"testing"

	"github.com/seqlease/seqlease/internal/postgres"
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
	lease, err := s.Claim(t.Context(), askFor(10)) // fewer than asked for: the end
	if err != nil || len(lease.Entries) != 5 {
		t.Fatalf("claimed %d entries, %v", len(lease.Entries), err)
	}
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
	if again, err := s.Claim(t.Context(), askFor(10)); err != nil || len(again.Entries) != 5 {
		t.Errorf("claimed %d entries, %v, want the 5 that another server gave back", len(again.Entries), err)
	}
}
