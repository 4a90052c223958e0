package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/queue"
)

// count answers a query for one number.
func count(t *testing.T, s *Store, query string, args ...any) (n int) {
	t.Helper()
	if err := outsider(t, s).QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// A claim larger than a slice is one lease, and a claim after its end takes over
// only as much as it asks for: no write is longer than its claim.
func TestClaim_L4_LargeLeasesGoOverInParts(t *testing.T) {
	t.Parallel()
	const n = 2*sliceEntries + 7
	s, _, versions := submitted(t, n)
	lease, err := s.Claim(t.Context(), benchClaim(n+1))
	if err != nil || len(lease.Entries) != n {
		t.Fatalf("claimed %d entries, %v, want %d", len(lease.Entries), err, n)
	}
	for i, e := range lease.Entries {
		if e.Place != i || e.AccessionVersion != versions[i] {
			t.Fatalf("entry %d is %s at place %d, want %s", i, e.AccessionVersion, e.Place, versions[i])
		}
	}
	wantIntact(t, s)

	age(t, s, time.Hour)
	small, err := s.Claim(t.Context(), benchClaim(3))
	if err != nil || len(small.Entries) != 3 || small.Ended != 0 || small.Entries[2].AccessionVersion != versions[2] || small.Entries[2].Attempt != 2 {
		t.Errorf("got %+v, %v, want the first 3 entries in their second attempt", small, err)
	}
	held := count(t, s, "SELECT count(*) FROM leased WHERE attempt_id = ?", lease.AttemptID[:])
	if tickets := count(t, s, "SELECT count(*) FROM ticket"); held != n-3 || tickets != 0 {
		t.Errorf("%d entries stay where they were and %d have tickets, want %d and 0", held, tickets, n-3)
	}
	rest, err := s.Claim(t.Context(), benchClaim(n))
	if err != nil || len(rest.Entries) != n-3 || rest.Ended != 1 || rest.Entries[0].AccessionVersion != versions[3] {
		t.Errorf("claimed %d entries of %d ended leases, %v, want %d of 1", len(rest.Entries), rest.Ended, err, n-3)
	}
	for i, e := range rest.Entries {
		if e.Place != i || e.Attempt != 2 {
			t.Fatalf("entry %d has place %d and attempt %d, want %d and 2", i, e.Place, e.Attempt, i)
		}
	}
	wantIntact(t, s)
}

// Nothing joins a lease that is gone by the time of a later slice.
func TestClaim_L2_SliceNeedsTheLease(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 10)
	c := benchClaim(10)
	slice := func(taken, entries int) (got claimSlice) {
		t.Helper()
		c.Entries = taken + entries
		err := s.write(t.Context(), func(ctx context.Context, t *tx) (err error) {
			got, err = moveSlice(ctx, t, c, taken)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := slice(0, 4).entries + slice(4, 2).entries; got != 6 {
		t.Errorf("two slices have %d entries, want 6", got)
	}
	if n, err := s.GiveBack(t.Context(), queue.GiveBack{AttemptID: c.AttemptID}); n != 6 || err != nil {
		t.Errorf("gave %d back, %v, want 6", n, err)
	}
	if got := slice(6, 2).entries; got != 0 {
		t.Errorf("%d entries joined a lease that is gone", got)
	}
	wantIntact(t, s)
}
