package sqlite

import (
	"context"
	"testing"

	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/storetest"
)

// BenchmarkBackfill adds tickets of newer versions to 100,000 entries, a chunk each
// time: others that write wait for that long.
func BenchmarkBackfill(b *testing.B) {
	s, u := benchStore(b, 100_000)
	if _, err := s.Submit(b.Context(), u); err != nil {
		b.Fatal(err)
	}
	version := benchClaim(1).PipelineVersion
	done := true
	tickets := 0
	for b.Loop() {
		if done {
			version++
			if _, err := s.RegisterVersion(b.Context(), storetest.WestNile, version, 1000); err != nil {
				b.Fatal(err)
			}
		}
		chunk, err := s.Backfill(b.Context(), storetest.WestNile, version, backfillEntries)
		if err != nil {
			b.Fatal(err)
		}
		tickets += chunk.Tickets
		done = chunk.Progress == reprocess.Complete
	}
	b.ReportMetric(float64(tickets)/float64(b.N), "tickets/op")
}

// Of two that found the same page one writes it.
func TestBackfill_V3_AChunkIsWrittenOnce(t *testing.T) {
	t.Parallel()
	s, _, _ := submitted(t, 30)
	if _, err := s.RegisterVersion(t.Context(), storetest.WestNile, 2, 1000); err != nil {
		t.Fatal(err)
	}
	page, err := s.backfillPage(t.Context(), storetest.WestNile, 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []reprocess.Chunk{{Tickets: 10, Progress: reprocess.More}, {Progress: reprocess.Busy}} {
		var chunk reprocess.Chunk
		err := s.writeAndRing(t.Context(), func(ctx context.Context, t *tx, a *added) (err error) {
			chunk, err = page.fill(ctx, t, a)
			return err
		})
		if err != nil || chunk != want {
			t.Errorf("got %+v, %v, want %+v", chunk, err, want)
		}
	}
}
