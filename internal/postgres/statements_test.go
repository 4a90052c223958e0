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
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
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
	for i, n := range []int{1, 99, 100, 1000} {
		sent.take()
		lease, err := s.Claim(t.Context(), askFor(n))
		if err != nil || len(lease.Entries) != n {
			t.Fatalf("claimed %d entries, want %d: %v", len(lease.Entries), n, err)
		}
		want := "claim_fresh"
		if i == 0 { // the first look is at the whole queue
			want = "claim"
		}
		if diff := cmp.Diff([]string{"claim_settings", want}, statementNames(sent.take())); diff != "" {
			t.Errorf("statements of a claim of %d (-want +got):\n%s", n, diff)
		}
		organismID, _, _ := s.Bound(storetest.WestNile, 1, queue.LaneFresh)
		s.JustLooked(organismID, 1) // so that no look at the whole queue is due
		if _, err := s.AcceptResults(t.Context(), packedAnswer(s, lease)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"accept_settings", "accept_first"}, statementNames(sent.take())); diff != "" {
			t.Errorf("statements for %d results (-want +got):\n%s", n, diff)
		}
	}
}

// Where nothing fresh waits, claims look at the suspects; and where results are
// there, they are replaced, which is expected of those that follow, too.
func TestStatements_L9_V9_WhatIsRareTakesAnotherStatement(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	if _, err := g.AcceptResults(t.Context(), packedAnswer(g.Store, g.mustClaim(t, askFor(2)))); err != nil {
		t.Fatal(err)
	}
	g.exec(t, "INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs) "+
		"SELECT organism_id, 1, 2, 1, id, 1, 1 FROM entry")
	organismID, _, _ := g.Bound(storetest.WestNile, 1, queue.LaneFresh)
	g.JustLooked(organismID, 1)
	var sent statements
	if err := g.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	for i, wantAccept := range [][]string{
		{"accept_settings", "accept_first", "accept_settings", "accept_results"}, {"accept_settings", "accept_results"},
	} {
		sent.take()
		lease := g.mustClaim(t, askFor(1))
		if diff := cmp.Diff([]string{"claim_settings", "claim_fresh", "claim_settings", "claim"}, statementNames(sent.take())); diff != "" {
			t.Errorf("statements of claim %d (-want +got):\n%s", i, diff)
		}
		if len(lease.Entries) != 1 || lease.Entries[0].Attempt != 2 {
			t.Fatalf("claimed %+v, want a suspect", lease.Entries)
		}
		if i == 1 {
			g.JustReplaced(organismID, 1)
		}
		if _, err := g.AcceptResults(t.Context(), packedAnswer(g.Store, lease)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantAccept, statementNames(sent.take())); diff != "" {
			t.Errorf("statements for results %d (-want +got):\n%s", i, diff)
		}
		g.JustLooked(organismID, 1)
	}
	g.wantCounts(t, map[string]int64{"result": 2, "lease": 0, "ticket": 0})
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
