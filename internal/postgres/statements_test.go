package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
)

// statements keeps the first line of every statement that is sent.
type statements struct {
	mu   sync.Mutex
	sent []string
}

func (s *statements) add(text string) {
	if text == "-- ping" { // of the pool, to a connection that was idle
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, text)
}

// take returns what was sent since it was called last.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.add(d.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.add(d.SQL)
}

func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A claim and a submission of results are one statement each, besides its
// settings, whatever the number of entries.
func TestStatements_L2_L3_AreAsManyForAnyNumberOfEntries(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{}).open(t)
	submitN(t, s, register(t, s).GroupID, 1300)
	var sent statements
	if err := s.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 99, 100, 1000} {
		sent.take()
		lease, err := s.Claim(t.Context(), askFor(n))
		if err != nil || len(lease.Entries) != n {
			t.Fatalf("claimed %d entries, want %d: %v", len(lease.Entries), n, err)
		}
		if diff := cmp.Diff([]string{"claim_settings", "claim"}, statementNames(sent.take())); diff != "" {
			t.Errorf("statements of a claim of %d (-want +got):\n%s", n, diff)
		}
		if _, err := s.AcceptResults(t.Context(), packedAnswer(s, lease)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"plan_settings", "accept_results"}, statementNames(sent.take())); diff != "" {
			t.Errorf("statements for %d results (-want +got):\n%s", n, diff)
		}
	}
}

// statementNames are those in the first lines of the statements; of one without, the text.
func statementNames(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		var name string
		if n, _ := fmt.Sscanf(text, "-- seqlease %s", &name); n == 0 {
			name = text
		}
		list[i] = strings.TrimSuffix(name, ":")
	}
	return list
}
