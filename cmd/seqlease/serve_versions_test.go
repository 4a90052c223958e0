package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// A pipeline that was updated just claims with its new version: that registers it,
// and all entries wait for it, while the present one goes on.
func TestServe_V2_V3_ANewerPipelineJustClaims(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { t.Helper(); return "sqlite:" + filepath.Join(t.TempDir(), "x.db") },
		"postgres": func(t *testing.T) string {
			t.Helper()
			database := newDatabase(t)
			if code, _, stderr := command(t, "migrate", "up", "--store", database); code != exitDone {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			return database
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveExample(t, "--store", store(t))
			s.upload(t)
			worker, err := client.New(s.url, exampleTokens["PIPELINE_TOKEN"])
			if err != nil {
				t.Fatal(err)
			}
			claim := func(version seqlease.PipelineVersion, wait time.Duration) ([]seqlease.Entry, error) {
				claimed, err := worker.Claim(t.Context(), client.ClaimRequest{Organism: "sars-cov-2", PipelineVersion: version, Entries: 4, Wait: wait})
				return claimed.Entries, err
			}
			if _, err := claim(1002, 0); !errors.Is(err, seqlease.ErrPipelineUnknown) || !strings.Contains(err.Error(), "versions up to 1001") {
				t.Errorf("got %v, want a refusal that names the ceiling", err)
			}
			if _, err := claim(0, 0); !errors.Is(err, seqlease.ErrPipelineOutdated) {
				t.Errorf("got %v, want %v", err, seqlease.ErrPipelineOutdated)
			}
			entries, err := claim(2, 0)
			if err != nil || len(entries) != 4 {
				t.Fatalf("the first claim got %d entries, %v, want 4", len(entries), err)
			}
			for all := 4; all < 10; all += len(entries) {
				if entries, err = claim(2, 30*time.Second); err != nil || len(entries) == 0 {
					t.Fatalf("claimed %d entries, %v after %d", len(entries), err, all)
				}
			}
			if entries, err = claim(1, 0); err != nil || len(entries) != 4 {
				t.Errorf("claimed %d entries, %v with the current version, want 4", len(entries), err)
			}
			listing, err := s.submitter(t).ListEntries(t.Context(), "sars-cov-2", client.ListFilter{})
			if err != nil || listing.StatusCounts[seqlease.InProcessing] != 4 || listing.StatusCounts[seqlease.Received] != 6 {
				t.Errorf("statuses %v, %v, want those of the current version", listing.StatusCounts, err)
			}
			s.stop(t)
		})
	}
}
