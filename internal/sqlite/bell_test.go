package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// The bell rings after each commit that made something claimable, when it can be
// claimed already, and after no other.
func TestBell_L14_RingsForWhatWasAdded(t *testing.T) {
	t.Parallel()
	bell := &queue.Bell{}
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db"), Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	rung := 0
	bell.Answer(func(o seqlease.Organism) {
		if o == storetest.WestNile {
			rung++
		}
	})
	ctx := t.Context()
	var versions []seqlease.AccessionVersion
	var lease queue.Lease
	claim := func(n int) func() error {
		return func() (err error) {
			lease, err = s.Claim(ctx, benchClaim(n))
			return err
		}
	}
	all := queue.Selection{Organism: storetest.WestNile}
	for _, step := range []struct {
		name string
		do   func() error
		want int
	}{
		{"a submission", func() error { versions = mustSubmit(t, s, groupUpload(t, s, 4)); return nil }, 1},
		{"a claim", claim(4), 0},
		{"a renewal", func() error {
			_, err := s.Renew(ctx, queue.Renew{Organism: storetest.WestNile, AttemptID: lease.AttemptID, ClaimedBy: "pipeline"})
			return err
		}, 0},
		{"a give back", func() error {
			_, err := s.GiveBack(ctx, queue.GiveBack{AttemptID: lease.AttemptID, ClaimedBy: "pipeline"})
			return err
		}, 1},
		{"a claim again", claim(4), 0},
		{"results", func() error {
			_, err := s.AcceptResults(ctx, benchResults(lease, packedBody()))
			return err
		}, 0},
		{"an edit", func() error {
			return s.Edit(ctx, submission.Edit{Organism: storetest.WestNile, AccessionVersion: versions[0], Data: []byte("{}")})
		}, 1},
		{"reprocessing", func() error { _, _, err := s.Reprocess(ctx, all, 0, 10); return err }, 1},
		{"a claim of both", claim(4), 0},
		{"freeing", func() error {
			_, _, err := s.FreeLeases(ctx, queue.FreeLeases{Organism: storetest.WestNile, AttemptIDs: []seqlease.AttemptID{lease.AttemptID}}, 10)
			return err
		}, 1},
		{"a pause", func() error { return s.SetPaused(ctx, storetest.WestNile, 0, true, nil) }, 0},
		{"a resumption", func() error { return s.SetPaused(ctx, storetest.WestNile, 0, false, nil) }, 1},
		{"a claim of suspects", claim(32), 0},
		{"a sweep of what runs", func() error { _, _, err := s.Sweep(ctx, 10); return err }, 0},
		{"a sweep of what has ended", func() error { age(t, s, time.Hour); _, _, err := s.Sweep(ctx, 10); return err }, 1},
		{"quarantine", func() error {
			_, _, err := s.PutInQuarantine(ctx, all, queue.OperatorVerdict{Result: queue.PackedResult{Packed: packedBody()}}, 0, 10)
			return err
		}, 0},
		{"requeueing", func() error { _, _, err := s.Requeue(ctx, all, 0, 10); return err }, 1},
	} {
		rung = 0
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if rung != step.want {
			t.Errorf("%s rang %d times, want %d", step.name, rung, step.want)
		}
	}
}
