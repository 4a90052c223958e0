package postgres_test

import (
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// BenchmarkApprove releases very many entries, and times the longest claim, submission of
// results and upload beside that, and as long afterwards.
func BenchmarkApprove(b *testing.B) {
	const n = 100_000
	s := durableStore(b)
	group := register(b, s)
	for range b.N {
		submitN(b, s, group.GroupID, n)
		for left := n; left > 0; {
			lease, err := s.Claim(b.Context(), askFor(10_000))
			if err != nil || len(lease.Entries) == 0 {
				b.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
			}
			if _, err := s.AcceptResults(b.Context(), answer(lease, make([]byte, 400))); err != nil {
				b.Fatal(err)
			}
			left -= len(lease.Entries)
		}
		done := make(chan error, 1)
		begun := time.Now()
		go func() {
			_, err := s.Approve(b.Context(), submission.Approval{Organism: storetest.WestNile, Approver: "root", Scope: seqlease.ApproveAll})
			done <- err
		}()
		var beside, alone [3]time.Duration
		for ended := false; !ended; {
			work(b, s, group.GroupID, &beside)
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				ended = true
			default:
			}
		}
		took := time.Since(begun)
		for again := time.Now(); time.Since(again) < took; {
			work(b, s, group.GroupID, &alone)
		}
		b.ReportMetric(took.Seconds(), "approve-s")
		for i, what := range []string{"claim", "results", "upload"} {
			b.ReportMetric(float64(beside[i].Microseconds())/1000, what+"-ms")
			b.ReportMetric(float64(alone[i].Microseconds())/1000, what+"-alone-ms")
		}
	}
}

// work uploads five entries and processes them, and notes what took longest: the claim,
// the results, the upload.
func work(b *testing.B, s *postgres.Store, group int64, longest *[3]time.Duration) {
	b.Helper()
	begun := time.Now()
	note := func(i int) {
		longest[i] = max(longest[i], time.Since(begun))
		begun = time.Now()
	}
	submitN(b, s, group, 5)
	note(2)
	lease, err := s.Claim(b.Context(), askFor(5))
	if err != nil || len(lease.Entries) != 5 {
		b.Fatalf("claimed %d entries: %v", len(lease.Entries), err)
	}
	note(0)
	if _, err := s.AcceptResults(b.Context(), answer(lease, make([]byte, 400))); err != nil {
		b.Fatal(err)
	}
	note(1)
}
