package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// count answers a query for one number.
func count(t *testing.T, s *Store, query string, args ...any) (n int) {
	t.Helper()
	if err := outsider(t, s).QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// A claim larger than a slice is one lease, and what is left of it after its end
// becomes tickets in parts: no write is longer than so many entries.
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
	small, err := s.Claim(t.Context(), benchClaim(3*queue.SuspectShare))
	if err != nil || len(small.Entries) != 3 || small.Ended != 0 || small.Entries[2].AccessionVersion != versions[2] || small.Entries[2].Attempt != 2 {
		t.Errorf("got %+v, %v, want the first 3 entries in their second attempt", small, err)
	}
	held := count(t, s, "SELECT count(*) FROM leased WHERE attempt_id = ?", lease.AttemptID[:])
	if tickets := count(t, s, "SELECT count(*) FROM ticket"); held != n-maxPlaces || tickets != maxPlaces-3 {
		t.Errorf("%d entries stay where they were and %d have tickets, want %d and %d", held, tickets, n-maxPlaces, maxPlaces-3)
	}
	rest, err := s.Claim(t.Context(), benchClaim(n*queue.SuspectShare))
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
			got, err = s.moveSlice(ctx, t, &added{}, c, []lanes{healthy}, taken)
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
	if n, err := s.GiveBack(t.Context(), queue.GiveBack{AttemptID: c.AttemptID, Undelivered: true}); n != 6 || err != nil {
		t.Errorf("gave %d back, %v, want 6", n, err)
	}
	if got := slice(6, 2).entries; got != 0 {
		t.Errorf("%d entries joined a lease that is gone", got)
	}
	wantIntact(t, s)
}

// A lease that is lost before its claim was read isn't an empty queue: the claim
// is made anew, a few times, and what it lost costs no attempt.
func TestClaim_L8_LeaseLostBeforeItIsRead(t *testing.T) {
	t.Parallel()
	const n, large = 10, queue.PayloadLimit + 10
	ends := "UPDATE lease SET lease_until = claimed_at WHERE attempt_id = NEW.attempt_id;"
	deleted := "DELETE FROM leased WHERE attempt_id = NEW.attempt_id; DELETE FROM lease WHERE attempt_id = NEW.attempt_id;"
	for name, c := range map[string]struct {
		loss           string
		times          int
		entries, claim int
		want           int // entries claimed, from the first-th on
		first          int
	}{
		"ended":                     {ends, 1, n, 4, 4, 0},
		"ended, without documents":  {ends, 1, large, large, large, 0},
		"ended each time but one":   {ends, claimTries - 1, n, n, n, 0},
		"deleted":                   {deleted, 1, n, 4, 4, 4},
		"deleted, and nothing left": {deleted, 1, n, n, 0, 0},
		"ended each time":           {ends, claimTries, n, 4, -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, versions := submitted(t, c.entries)
			db := outsider(t, s)
			for _, text := range []string{
				"CREATE TABLE loss (n INTEGER)",
				fmt.Sprintf(`CREATE TRIGGER lose AFTER INSERT ON lease WHEN (SELECT count(*) FROM loss) < %d
					BEGIN INSERT INTO loss VALUES (1); %s END`, c.times, c.loss),
			} {
				if _, err := db.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			lease, err := s.Claim(t.Context(), benchClaim(c.claim))
			if c.want < 0 {
				if !errors.Is(err, seqlease.ErrBusy) {
					t.Errorf("got %d entries, %v, want %v", len(lease.Entries), err, seqlease.ErrBusy)
				}
				lease, err = s.Claim(t.Context(), benchClaim(c.claim))
				c.want = c.claim
			}
			if err != nil || len(lease.Entries) != c.want {
				t.Fatalf("claimed %d entries, %v, want %d", len(lease.Entries), err, c.want)
			}
			for i, e := range lease.Entries {
				if e.AccessionVersion != versions[c.first+i] || e.Attempt != 1 {
					t.Fatalf("entry %d is %s in attempt %d, want %s in attempt 1", i, e.AccessionVersion, e.Attempt, versions[c.first+i])
				}
			}
			held := count(t, s, "SELECT count(*) FROM leased WHERE attempt_id = ?", lease.AttemptID[:])
			if all := count(t, s, "SELECT count(*) FROM leased"); all != held || held != c.want {
				t.Errorf("the answered attempt holds %d of %d leased entries, want all %d", held, all, c.want)
			}
		})
	}
}

// While a large upload waits, claims don't look first whether anything does. The
// one that comes to its end says so, and then they need no writer to find nothing.
func TestClaim_WorkThatWasLeftIsKnown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustSubmit(t, s, groupUpload(t, s, large))
	c := benchClaim(large - 1)
	if s.knownToWait(c) {
		t.Error("something is known to wait before the first claim")
	}
	if n := len(mustClaim(t, s, large-1)); n != large-1 || !s.knownToWait(c) {
		t.Fatalf("claimed %d entries of %d; known to wait: %t", n, large, s.knownToWait(c))
	}
	other := c
	other.PipelineVersion = 99
	if _, err := s.Claim(t.Context(), other); !errors.Is(err, seqlease.ErrPipelineUnknown) {
		t.Errorf("got error %v of another version, want %v", err, seqlease.ErrPipelineUnknown)
	}
	if err := s.SetPaused(t.Context(), storetest.WestNile, 0, true, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(mustClaim(t, s, large)); n != 0 {
		t.Errorf("claimed %d entries of a queue that is paused", n)
	}
	if err := s.SetPaused(t.Context(), storetest.WestNile, 0, false, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(mustClaim(t, s, large)); n != 1 || s.knownToWait(c) {
		t.Errorf("claimed %d entries, want the last; known to wait: %t", n, s.knownToWait(c))
	}
	release := holdWriter(t, s)
	defer release()
	if n := len(mustClaim(t, s, large)); n != 0 {
		t.Errorf("claimed %d entries of an empty queue", n)
	}
}
