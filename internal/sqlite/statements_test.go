package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/queue"
)

// counted runs fn as a write and returns the names of its statements.
func counted(t *testing.T, s *Store, fn func(ctx context.Context, t *tx) error) []string {
	t.Helper()
	var names []string
	err := s.write(t.Context(), func(ctx context.Context, inner *tx) error {
		names = nil
		return fn(ctx, &tx{changed: inner.changed, statement: func(ctx context.Context, name string) (*sql.Stmt, error) {
			names = append(names, name)
			return inner.statement(ctx, name)
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A claim and a submission of results take the same number of statements
// whatever the number of entries.
func TestStatements_L2_L3_AreAsManyForAnyNumberOfEntries(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 99, 100, 101, 1000}
	all := 0
	for _, n := range sizes {
		all += n
	}
	s, u, _ := submitted(t, 1)
	u.Entries = benchEntries(s, partEntries)
	for range all/partEntries + 1 { // small uploads, whose tickets are written out
		if _, err := s.Submit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range sizes {
		c := benchClaim(n)
		claim := counted(t, s, func(ctx context.Context, t *tx) error {
			slice, err := s.moveSlice(ctx, t, &added{}, c, []lanes{healthy}, 0)
			if err == nil && slice.entries != n {
				err = fmt.Errorf("claimed %d entries, want %d", slice.entries, n)
			}
			return err
		})
		want := []string{"claim_state", "claim_take_tickets", "claim_cut_tickets", "claim_insert_lease", "claim_note"}
		if diff := cmp.Diff(want, claim); diff != "" {
			t.Errorf("statements of a claim of %d (-want +got):\n%s", n, diff)
		}
		entries, err := s.readLease(t.Context(), c.AttemptID, n)
		if err != nil || len(entries) != n {
			t.Fatalf("read %d entries, want %d: %v", len(entries), n, err)
		}
		lease := queue.Lease{AttemptID: c.AttemptID, Entries: entries}
		accept := counted(t, s, func(ctx context.Context, t *tx) error {
			r := benchResults(lease, packedBody())
			_, err := acceptResults(ctx, t, r, r.Lines, true)
			return err
		})
		want = []string{
			"accept_state", variantName("accept_results", roomFor(n)), "lease_holds", "bump_released_by_lease", "cut_lease", "end_lease",
		}
		if diff := cmp.Diff(want, accept); diff != "" {
			t.Errorf("statements for %d results (-want +got):\n%s", n, diff)
		}
	}
	var stored int
	if err := outsider(t, s).QueryRowContext(t.Context(), "SELECT count(*) FROM result").Scan(&stored); err != nil || stored != all {
		t.Errorf("%d results are stored, want %d: %v", stored, all, err)
	}
}

// BenchmarkRows hands rows of results over to SQLite, none of which are held:
// what a number between two that statements are prepared for costs.
func BenchmarkRows(b *testing.B) {
	s, u := benchStore(b, 1000)
	if _, err := s.Submit(b.Context(), u); err != nil {
		b.Fatal(err)
	}
	lease, err := s.Claim(b.Context(), benchClaim(1000))
	if err != nil {
		b.Fatal(err)
	}
	lines := benchResults(lease, packedBody()).Lines
	fence := named("organism_id", int64(1), "pipeline_version", int64(1), "claimed_by", "nobody", "now", int64(0))
	for _, n := range []int{1, 9, 10, 31, 99, 100, 101, 301, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			err := s.write(b.Context(), func(ctx context.Context, t *tx) error {
				for b.Loop() {
					if _, err := storeResults(ctx, t, lines[:n], fence); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A faulty statement doesn't wait for its first use to be found.
func TestStatements_EveryOneCanBePrepared(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	texts, err := statementTexts()
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	err = s.write(t.Context(), func(ctx context.Context, inner *tx) error {
		for name, text := range texts {
			if _, err := inner.statement(ctx, name); err != nil { //nolint:sqlclosecheck // kept as long as the store
				return err
			}
			if onlyReads(text) {
				reads++
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if reads != len(s.reads) || reads < 30 {
		t.Errorf("%d statements only read, and %d are prepared for readers", reads, len(s.reads))
	}
}
