package postgres_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
)

// V8: results are counted in an index alone; their rows hold documents.
func TestPipelineStatistics_V8_ReadNoDocuments(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.processed(t, 40)
	g.exec(t, "VACUUM ANALYZE")
	g.exec(t, strings.ReplaceAll(postgres.PlanSettingsSQL, ", true)", ", false)")) // for the session
	var document []byte
	if err := g.other.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+postgres.PipelineStatisticsSQL).Scan(&document); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(document, &plans); err != nil {
		t.Fatal(err)
	}
	scans := 0
	plans[0].Plan.walk(func(p planNode) {
		if p.Relation != "result" {
			return
		}
		scans++
		if p.Type != "Index Only Scan" {
			t.Errorf("results are read by %s", p.Type)
		}
	})
	if scans != 1 {
		t.Errorf("%d scans of result, want 1", scans)
	}
}

// Results that were there before the index had the organism in it are counted.
func TestMigrate_V8_ResultsFromBeforeAreCounted(t *testing.T) {
	t.Parallel()
	h := newHarness("", postgres.Options{})
	s := h.open(t)
	submitN(t, s, register(t, s).GroupID, 3)
	lease, err := s.Claim(t.Context(), askFor(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AcceptResults(t.Context(), packedAnswer(s, lease)); err != nil {
		t.Fatal(err)
	}
	address := h.databaseOf(s).address
	for _, version := range []int64{5, 6} {
		if err := postgres.MigrateTo(t.Context(), address, version); err != nil {
			t.Fatalf("to schema version %d: %v", version, err)
		}
		counts, err := s.PipelineStatistics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]queue.PipelineCount{{Organism: storetest.WestNile, PipelineVersion: 1, Results: 3}}, counts); diff != "" {
			t.Errorf("at schema version %d (-want +got):\n%s", version, diff)
		}
	}
	if _, err := s.AcceptResults(t.Context(), packedAnswer(s, lease)); err != nil {
		t.Errorf("the same results again: %v", err)
	}
}
