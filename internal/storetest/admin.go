package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

func adminCases() []testCase {
	return []testCase{
		{name: "V8_StatisticsCountTheResultsOfEachVersion", check: adminStatistics},
		{name: "V1_CurrentVersions", check: adminCurrentVersions},
	}
}

func adminStatistics(t *testing.T, h Harness) {
	f := newFixture(t, h)
	counts := func(what string, want ...queue.PipelineCount) {
		t.Helper()
		got, err := f.PipelineStatistics(t.Context())
		if err != nil {
			t.Fatalf("pipeline statistics: %v", err)
		}
		wantSame(t, what, got, want)
	}
	counts("of an empty store")
	f.submitTo(t, CCHF, 1)
	versions := f.submit(t, 1)
	counts("while all wait")
	f.quarantineEntries(t, versions, 1)
	counts("with one in quarantine", queue.PipelineCount{Organism: WestNile, PipelineVersion: 1, Results: 1})
	f.process(t, seqlease.NoIssues, seqlease.HasErrors)
	f.registerVersion(t, newer)
	f.submit(t, 3)
	lease := f.claimNewer(t, 3)
	f.mustAcceptNewer(t, f.line(t, 1, lease.Entries[0].AccessionVersion, lease.AttemptID, "newer", seqlease.HasWarnings))
	counts("of two versions",
		queue.PipelineCount{Organism: WestNile, PipelineVersion: 1, Results: 3},
		queue.PipelineCount{Organism: WestNile, PipelineVersion: newer, Results: 1})
}

func adminCurrentVersions(t *testing.T, h Harness) {
	f := newFixture(t, h)
	f.registerVersion(t, newer)
	got, err := f.CurrentPipelineVersions(t.Context())
	if err != nil {
		t.Fatalf("current pipeline versions: %v", err)
	}
	wantSame(t, "current versions", got, map[seqlease.Organism]seqlease.PipelineVersion{WestNile: 1, CCHF: 1})
}
