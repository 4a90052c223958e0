package storetest

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// A worker that submits the same again and again fills no table; its next attempt
// is noted as well.
func historyRefusalsBounded(t *testing.T, h Harness) {
	f := newFixture(t, h)
	versions := f.submit(t, 2)
	for attempt := 1; attempt <= 2; attempt++ {
		lease := f.claim(t, 2)
		s := results()
		for _, line := range f.lines(t, lease) {
			s.Invalid = append(s.Invalid, seqlease.Refusal{
				AccessionVersion: line.AccessionVersion, Line: line.Number, Reason: seqlease.RefusedInvalid, Detail: "unknown field",
			})
		}
		for range queue.RefusalsPerAttempt + 5 {
			if err := f.submitResults(t, s); err == nil {
				t.Fatal("a body with invalid lines was accepted")
			}
		}
		for _, av := range versions {
			refusals := 0
			for _, failure := range f.history(t, av).Failures {
				if failure.AttemptID == lease.AttemptID && failure.Kind == queue.FailureRefused {
					refusals++
				}
			}
			wantSame(t, "refusals of "+av.String(), refusals, queue.RefusalsPerAttempt)
		}
		f.giveBack(t, lease.AttemptID, false, 2)
	}
}
