package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// durableStore is a store on a server of its own that keeps its promises, as
// drains are measured.
func durableStore(b *testing.B) *postgres.Store {
	b.Helper()
	durable, err := pgcluster.Start(b.Context(), pgcluster.Options{Durable: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			b.Error(err)
		}
	})
	address, err := durable.NewDatabase(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := postgres.Migrate(b.Context(), address); err != nil {
		b.Fatal(err)
	}
	h := newHarness("", postgres.Options{MaxConnections: benchConnections})
	s := h.join(b, &database{address: address})
	register(b, s)
	return s
}

func register(t testing.TB, s *postgres.Store) seqlease.Group {
	t.Helper()
	if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
		t.Fatal(err)
	}
	g, err := s.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "Institute"}, "anna")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// submitN stores n small entries of West Nile virus.
func submitN(t testing.TB, s *postgres.Store, group int64, n int) []seqlease.AccessionVersion {
	t.Helper()
	made, err := s.Submit(t.Context(), smallUpload(s, group, n))
	if err != nil {
		t.Fatal(err)
	}
	versions := make([]seqlease.AccessionVersion, len(made))
	for i, m := range made {
		versions[i] = m.AccessionVersion
	}
	return versions
}

// smallUpload is an upload of n small entries.
func smallUpload(s *postgres.Store, group int64, n int) submission.Upload {
	packed, err := s.Pack(storetest.WestNile, []byte(`{"metadata":{}}`))
	if err != nil {
		panic(err) // the organism is registered
	}
	return submission.Upload{
		Organism: storetest.WestNile, GroupID: group, Submitter: "anna", AccessionPrefix: "LOC_",
		Terms: seqlease.DataUseTerms{Type: seqlease.TermsOpen},
		Entries: func(yield func(submission.PackedEntry, error) bool) {
			for i := range n {
				if !yield(submission.PackedEntry{SubmissionID: fmt.Sprint("s", i), Data: packed}, nil) {
					return
				}
			}
		},
	}
}

// packedAnswer is answer with bodies that can be read back.
func packedAnswer(s *postgres.Store, lease queue.Lease) queue.Submission {
	packed, err := s.Pack(storetest.WestNile, []byte(`{}`))
	if err != nil {
		panic(err) // the organism is registered
	}
	a := answer(lease, nil)
	for i := range a.Lines {
		a.Lines[i].Packed = packed
	}
	return a
}

func askFor(n int) queue.Claim {
	return queue.Claim{
		Organism: storetest.WestNile, PipelineVersion: 1, Entries: n, AttemptID: seqlease.NewAttemptID(),
		Lease: 10 * time.Minute, ClaimedBy: "pipeline", WorkerID: "bench",
	}
}

// answer is a body with a result of that many bytes for each entry of the lease.
func answer(lease queue.Lease, body []byte) queue.Submission {
	lines := make([]queue.Line, len(lease.Entries))
	for i, e := range lease.Entries {
		lines[i] = queue.Line{
			AccessionVersion: e.AccessionVersion, Number: i + 1, AttemptID: lease.AttemptID, Result: seqlease.NoIssues,
			Digest: [16]byte{1}, Packed: seqlease.Packed{Bytes: body},
		}
	}
	return queue.Submission{Organism: storetest.WestNile, PipelineVersion: 1, ClaimedBy: "pipeline", Lines: lines}
}

// BenchmarkClaim claims and gives back 100 entries.
func BenchmarkClaim(b *testing.B) {
	s := durableStore(b)
	group := register(b, s)
	submitN(b, s, group.GroupID, 10_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		lease, err := s.Claim(b.Context(), askFor(100))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.GiveBack(b.Context(), returned(lease)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAccept answers leases of 100 entries.
func BenchmarkAccept(b *testing.B) {
	s := durableStore(b)
	group := register(b, s)
	submitN(b, s, group.GroupID, 100*b.N)
	leases := make([]queue.Lease, b.N)
	for i := range leases {
		var err error
		if leases[i], err = s.Claim(b.Context(), askFor(100)); err != nil {
			b.Fatal(err)
		}
	}
	body := make([]byte, 1000)
	b.ReportAllocs()
	b.ResetTimer()
	for _, lease := range leases {
		if _, err := s.AcceptResults(b.Context(), answer(lease, body)); err != nil {
			b.Fatal(err)
		}
	}
}
