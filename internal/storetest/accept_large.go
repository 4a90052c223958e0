package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// acceptL5Large sends more lines than a store takes at once, the last of which is
// refused: nothing of them may be stored, or with skip all others.
func acceptL5Large(t *testing.T, h Harness) {
	f := newFixture(t, h)
	const n = 10_050
	for range n / 1005 {
		f.submit(t, 1005)
	}
	lines := f.lines(t, f.claim(t, n))
	wantSame(t, "lines", len(lines), n)
	lines[n-1].AttemptID = seqlease.NewAttemptID()
	wantRefused(t, f.accept(t, lines...), refused(n, lines[n-1].AccessionVersion, seqlease.RefusedLeaseLost))
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: n})
	accepted, err := f.AcceptResults(t.Context(), queue.Submission{
		Organism: WestNile, PipelineVersion: 1, ClaimedBy: worker, Lines: lines, Skip: true,
	})
	if err != nil || accepted.Stored != n-1 || len(accepted.Refused) != 1 {
		t.Fatalf("%d lines stored and %d refused (%v), want %d and 1", accepted.Stored, len(accepted.Refused), err, n-1)
	}
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.InProcessing: 1, seqlease.Processed: n - 1})
	lines[n-1].AttemptID = lines[0].AttemptID
	f.mustAccept(t, lines...) // all but one are repetitions (L6)
	f.wantStatuses(t, map[seqlease.Status]int64{seqlease.Processed: n})
}
