package postgres_test

import (
	"errors"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
)

// Anybody with a pipeline's token may name any version: what isn't there takes no
// memory.
func TestClaim_V2_UnknownVersionsAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := newHarness("", postgres.Options{}).open(t)
	group := register(t, s)
	submitN(t, s, group.GroupID, 1)
	lease, err := s.Claim(t.Context(), askFor(1))
	if err != nil {
		t.Fatal(err)
	}
	before := s.Remembered()
	for version := range seqlease.PipelineVersion(20) {
		c := askFor(1)
		c.PipelineVersion = 1000 + version
		if _, err := s.Claim(t.Context(), c); !errors.Is(err, seqlease.ErrPipelineUnknown) {
			t.Fatalf("version %d: got %v, want %v", c.PipelineVersion, err, seqlease.ErrPipelineUnknown)
		}
		a := answer(lease, nil)
		a.PipelineVersion = c.PipelineVersion
		if refused := new(seqlease.RefusedError); !errors.As(errorOf(s.AcceptResults(t.Context(), a)), &refused) {
			t.Fatalf("results of version %d are not refused", c.PipelineVersion)
		}
	}
	if after := s.Remembered(); after != before {
		t.Errorf("%d queues are remembered, want %d", after, before)
	}
}
