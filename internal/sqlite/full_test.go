package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// limitPages lets the store's file have so many pages; 1: as many as it has.
func limitPages(t *testing.T, s *Store, pages int) {
	t.Helper()
	if _, err := s.writer.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
}

// snapshot counts what a failed write must not have changed.
func snapshot(t *testing.T, s *Store) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"ticket", "leased", "lease", "result", "failure", "quarantine", "claim_record", "turn"} {
		fmt.Fprintf(&all, "%s %d, ", table, count(t, s, "SELECT count(*) FROM "+table))
	}
	fmt.Fprintf(&all, "marks %d", count(t, s, "SELECT sum(n) FROM change"))
	return all.String()
}

// Every write says that the disk is full and changes nothing, and works again
// once there is room.
func TestWrite_B037_FullDiskUndoesEveryWriteWhole(t *testing.T) {
	t.Parallel()
	const n = 1000
	verdict := queue.OperatorVerdict{By: "root", Reason: strings.Repeat("odd ", 400), Result: queue.PackedResult{Packed: packedBody()}}
	all := queue.Selection{Organism: storetest.WestNile}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, s *Store, lease queue.Lease)
		write   func(t *testing.T, s *Store, lease queue.Lease) error
	}{
		"give back": {nil, func(t *testing.T, s *Store, lease queue.Lease) error {
			_, err := s.GiveBack(t.Context(), queue.GiveBack{AttemptID: lease.AttemptID, ClaimedBy: "pipeline", Reason: verdict.Reason})
			return err
		}},
		"free": {nil, func(t *testing.T, s *Store, _ queue.Lease) error {
			_, _, err := s.FreeLeases(t.Context(), queue.FreeLeases{Organism: storetest.WestNile, WorkerID: "", Reason: verdict.Reason}, 10)
			return err
		}},
		"sweep": {func(t *testing.T, s *Store, _ queue.Lease) { age(t, s, time.Hour) }, func(t *testing.T, s *Store, _ queue.Lease) error {
			_, _, err := s.Sweep(t.Context(), 10)
			return err
		}},
		"claim of ended leases": {func(t *testing.T, s *Store, _ queue.Lease) { age(t, s, time.Hour) }, func(t *testing.T, s *Store, _ queue.Lease) error {
			_, err := s.Claim(t.Context(), benchClaim(n))
			return err
		}},
		"quarantine": {nil, func(t *testing.T, s *Store, _ queue.Lease) error {
			_, _, err := s.PutInQuarantine(t.Context(), all, verdict, 0, n)
			return err
		}},
		"reprocess": {func(t *testing.T, s *Store, lease queue.Lease) {
			if _, err := s.AcceptResults(t.Context(), benchResults(lease, packedBody())); err != nil {
				t.Fatal(err)
			}
			fill(t, s)
		}, func(t *testing.T, s *Store, _ queue.Lease) error {
			_, _, err := s.Reprocess(t.Context(), all, 0, n)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := submitted(t, n)
			lease, err := s.Claim(t.Context(), benchClaim(n))
			if err != nil || len(lease.Entries) != n {
				t.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
			}
			if c.prepare != nil {
				c.prepare(t, s, lease)
			}
			fill(t, s)
			before := snapshot(t, s)
			limitPages(t, s, 1)
			if err := c.write(t, s, lease); !errors.Is(err, seqlease.ErrStorageFull) {
				t.Errorf("got error %v, want %v", err, seqlease.ErrStorageFull)
			}
			if after := snapshot(t, s); after != before {
				t.Errorf("after the failed write: %s\nbefore: %s", after, before)
			}
			limitPages(t, s, 1<<30)
			if err := c.write(t, s, lease); err != nil {
				t.Errorf("with room again: %v", err)
			}
			if after := snapshot(t, s); after == before {
				t.Error("the write changed nothing")
			}
			wantIntact(t, s)
		})
	}
}

// fill takes up the pages of the file that are free.
func fill(t *testing.T, s *Store) {
	t.Helper()
	db := outsider(t, s)
	mustExec(t, db, "CREATE TABLE IF NOT EXISTS filling (bytes BLOB)")
	for count(t, s, "SELECT freelist_count FROM pragma_freelist_count") > 0 {
		mustExec(t, db, "INSERT INTO filling SELECT zeroblob(3000) FROM json_each('[1,2,3,4,5,6,7,8]')")
	}
}

// A submission is answered whether or not its refusals can be noted.
func TestAccept_B037_RefusalsThatCannotBeNotedChangeNoAnswer(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 300)
	lease, err := s.Claim(t.Context(), benchClaim(300))
	if err != nil {
		t.Fatal(err)
	}
	r := benchResults(lease, packedBody())
	for i, l := range r.Lines {
		r.Invalid = append(r.Invalid, seqlease.Refusal{
			AccessionVersion: l.AccessionVersion, Line: i + 1, Reason: seqlease.RefusedInvalid, Detail: strings.Repeat("odd ", 400),
		})
	}
	fill(t, s)
	limitPages(t, s, 1)
	var refused *seqlease.RefusedError
	if _, err := s.AcceptResults(t.Context(), r); !errors.As(err, &refused) || len(refused.Refused) != 300 {
		t.Errorf("got %v, want 300 refused lines", err)
	}
	limitPages(t, s, 1<<30)
	if n := count(t, s, "SELECT count(*) FROM failure"); n != 0 {
		t.Errorf("%d failures are noted on a full disk", n)
	}
	if _, err := s.AcceptResults(t.Context(), r); !errors.As(err, &refused) {
		t.Errorf("got %v, want 300 refused lines", err)
	}
	if n := count(t, s, "SELECT count(*) FROM failure WHERE kind = 'refused' AND NOT counted"); n != 300 {
		t.Errorf("%d refusals are noted, want 300", n)
	}
}
