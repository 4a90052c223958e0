package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

const benchBatch = 100

// benchStore is a fresh store and an upload for it.
func benchStore(b testing.TB, entries int) (*Store, submission.Upload) {
	b.Helper()
	s := newStore(b)
	u, err := prepareUpload(b.Context(), s, entries)
	if err != nil {
		b.Fatal(err)
	}
	return s, u
}

func benchEntries(s *Store, n int) iter.Seq2[submission.PackedEntry, error] {
	return func(yield func(submission.PackedEntry, error) bool) {
		for i := range n {
			data := fmt.Appendf(nil, `{"metadata":{"country":"Kenya","number":"%d"},"unalignedNucleotideSequences":{}}`, i)
			packed, err := s.Pack(storetest.WestNile, data)
			if !yield(submission.PackedEntry{SubmissionID: fmt.Sprintf("sample-%d", i), Data: packed}, err) {
				return
			}
		}
	}
}

// packedBody is so many bytes that take no compression, 1,000 unless told.
func packedBody(size ...int) seqlease.Packed {
	random := rand.NewChaCha8([32]byte{1})
	body := make([]byte, append(size, 1000)[0])
	_, _ = random.Read(body)
	return seqlease.Packed{Bytes: body}
}

func benchClaim(n int) queue.Claim {
	return queue.Claim{
		Organism: storetest.WestNile, PipelineVersion: 1, Entries: n, AttemptID: seqlease.NewAttemptID(),
		Lease: 10 * time.Minute, ClaimedBy: "pipeline",
	}
}

func benchResults(l queue.Lease, body seqlease.Packed) queue.Submission {
	r := queue.Submission{Organism: storetest.WestNile, PipelineVersion: 1, ClaimedBy: "pipeline"}
	digest := sha256.Sum256(body.Bytes)
	for i, e := range l.Entries {
		r.Lines = append(r.Lines, queue.Line{
			AccessionVersion: e.AccessionVersion, Number: i + 1, AttemptID: l.AttemptID, Result: seqlease.NoIssues,
			Digest: [16]byte(digest[:16]), Packed: body,
		})
	}
	return r
}

func BenchmarkIdleClaim(b *testing.B) {
	s, _ := benchStore(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Claim(b.Context(), benchClaim(benchBatch)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaim moves a batch to a lease and gives it back outside of the clock.
func BenchmarkClaim(b *testing.B) {
	s, u := benchStore(b, 10_000)
	if _, err := s.Submit(b.Context(), u); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := benchClaim(benchBatch)
		if _, err := s.Claim(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if _, err := s.GiveBack(b.Context(), queue.GiveBack{AttemptID: c.AttemptID, Undelivered: true}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkPublish times the transaction that makes an upload visible, beside
// the longest transaction that stores a part of it.
func BenchmarkPublish(b *testing.B) {
	for _, entries := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(entries), func(b *testing.B) {
			var publish, part time.Duration
			for b.Loop() {
				s, u := benchStore(b, entries)
				up := &upload{Upload: u}
				ctx := b.Context()
				if err := s.write(ctx, up.begin); err != nil {
					b.Fatal(err)
				}
				part = max(part, longestPart(b, s, up))
				begun := time.Now()
				if err := s.writeAndRing(ctx, up.publish); err != nil {
					b.Fatal(err)
				}
				publish += time.Since(begun)
			}
			b.ReportMetric(float64(publish.Microseconds())/1000/float64(b.N), "publish-ms")
			b.ReportMetric(float64(part.Microseconds())/1000, "longest-part-ms")
		})
	}
}

// longestPart stores the upload and returns the longest time that another write
// could have waited for a part.
func longestPart(b testing.TB, s *Store, up partial) time.Duration {
	b.Helper()
	return longestBeside(b, s, func(ctx context.Context) error { return s.storeParts(ctx, up) })
}

// longestBeside returns the longest time that a small write took beside a large call.
func longestBeside(b testing.TB, s *Store, call func(ctx context.Context) error) time.Duration {
	b.Helper()
	done := make(chan error, 1)
	go func() { done <- call(context.WithoutCancel(b.Context())) }()
	var longest time.Duration
	next := time.NewTicker(time.Millisecond)
	defer next.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			return longest
		case <-next.C:
			begun := time.Now()
			if err := s.writeLosing(b.Context(), func(context.Context, *tx) error { return nil }); err != nil { // as claims do
				b.Fatal(err)
			}
			longest = max(longest, time.Since(begun))
		}
	}
}

// BenchmarkDelete times large deletions, and the longest time that another write had to
// wait for one.
func BenchmarkDelete(b *testing.B) {
	const n = 100_000
	tickets := "INSERT INTO ticket SELECT u.organism_id, 1, 0, u.rank + e.id - u.first_entry_id, e.id, 0, 0 FROM ticket_run AS u, entry AS e"
	results := `INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id,
		processed_at, claimed_by, body)
		SELECT 1, id, 1, randomblob(16), organism_id, 'HAS_ERRORS', randomblob(16), 0, 0, '', randomblob(400) FROM entry`
	for _, c := range []struct {
		name  string
		scope seqlease.DeletionScope
		of    int
		with  []string
	}{
		{"waiting", seqlease.DeleteAll, n, nil},
		{"tickets", seqlease.DeleteAll, n, []string{tickets, "DELETE FROM ticket_run"}},
		{"processed", seqlease.DeleteAll, n, []string{results, "DELETE FROM ticket_run"}},
		{"everySecond", seqlease.DeleteWithErrors, 2 * n, []string{
			results + " WHERE id % 2 = 0", tickets + " WHERE e.id % 2 = 1", "DELETE FROM ticket_run",
		}},
	} {
		timeBeside(b, c.name, func(s *Store) func(ctx context.Context) error {
			u := groupUpload(b, s, c.of)
			mustSubmit(b, s, u)
			db := outsider(b, s)
			for _, statement := range c.with {
				mustExec(b, db, statement)
			}
			d := deletionOf(nil, u.GroupID)
			d.Scope = c.scope
			return func(ctx context.Context) error {
				deleted, err := s.Delete(ctx, d)
				if err == nil && len(deleted) != n {
					err = fmt.Errorf("deleted %d entries, want %d", len(deleted), n)
				}
				return err
			}
		})
	}
}

// BenchmarkRevoke is BenchmarkDelete for revocations.
func BenchmarkRevoke(b *testing.B) {
	timeBeside(b, "all", func(s *Store) func(ctx context.Context) error {
		r := revocationOf(releasedEntries(b, s, submission.MaxRevoked))
		return func(ctx context.Context) error {
			_, err := s.Revoke(ctx, r)
			return err
		}
	})
}

// BenchmarkApprove is BenchmarkDelete for approvals. "all" releases a whole upload,
// "everySecond" has as many entries with errors between, "named" lists what it releases,
// and "none" finds nothing among as many entries with errors.
func BenchmarkApprove(b *testing.B) {
	const n = 100_000
	for _, c := range []struct {
		name     string
		of, want int
		faulty   string
		named    bool
	}{
		{"all", n, n, "FALSE", false},
		{"everySecond", 2 * n, n, "id % 2 = 0", false},
		{"named", n, n, "FALSE", true},
		{"none", n, 0, "TRUE", false},
	} {
		timeBeside(b, c.name, func(s *Store) func(ctx context.Context) error {
			a := submission.Approval{Organism: storetest.WestNile, Approver: "root", Scope: seqlease.ApproveAll}
			if versions := mustSubmit(b, s, groupUpload(b, s, c.of)); c.named {
				a.Entries = versions
			}
			if err := giveResults(b.Context(), outsider(b, s), c.faulty, packedBody(400)); err != nil {
				b.Fatal(err)
			}
			return func(ctx context.Context) error {
				approved, err := s.Approve(ctx, a)
				if err == nil && len(approved) != c.want {
					err = fmt.Errorf("approved %d entries, want %d", len(approved), c.want)
				}
				return err
			}
		})
	}
}

// giveResults gives all entries a result, with errors where a condition holds, and takes
// them out of the queue.
func giveResults(ctx context.Context, db *sql.DB, faulty string, body seqlease.Packed) error {
	for _, statement := range []string{"DELETE FROM ticket", "DELETE FROM ticket_run"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, `INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id,
		processed_at, claimed_by, body)
		SELECT 1, id, revision, randomblob(16), organism_id, iif(`+faulty+`, 'HAS_ERRORS', 'NO_ISSUES'), randomblob(16), ?, 0, '', ?
		FROM entry`, body.Dictionary, body.Bytes)
	return err
}

// timeBeside times a call alone, and how long writes beside it wait.
func timeBeside(b *testing.B, name string, prepare func(s *Store) func(ctx context.Context) error) {
	b.Run(name, func(b *testing.B) {
		var took spent
		var longest time.Duration
		for b.Loop() {
			call := prepare(newStore(b))
			end := meter(b)
			if err := call(b.Context()); err != nil {
				b.Fatal(err)
			}
			took.add(end())
			s := newStore(b)
			longest = max(longest, longestBeside(b, s, prepare(s)))
		}
		b.ReportMetric(took.wall.Seconds()/float64(b.N), "wall-s")
		b.ReportMetric(took.processor.Seconds()/float64(b.N), "processor-s")
		b.ReportMetric(float64(longest.Microseconds())/1000, "longest-wait-ms")
	})
}

// BenchmarkLongestWrites times the largest transactions that others may have to
// wait for: a slice of a large claim, whose tickets it writes out, the return of
// what a lease held, and a page of an operator.
func BenchmarkLongestWrites(b *testing.B) {
	var slice, sweep, requeue time.Duration
	least := func(best *time.Duration, begun time.Time) {
		if took := time.Since(begun); *best == 0 || took < *best {
			*best = took
		}
	}
	for b.Loop() {
		s, u := benchStore(b, 4*sliceEntries)
		if _, err := s.Submit(b.Context(), u); err != nil {
			b.Fatal(err)
		}
		for range 4 {
			begun := time.Now()
			if _, err := s.moveToLease(b.Context(), benchClaim(sliceEntries), []lanes{healthy}, &queue.Lease{}); err != nil {
				b.Fatal(err)
			}
			least(&slice, begun)
		}
		age(b, s, time.Hour)
		for range 4 {
			begun := time.Now()
			if _, _, err := s.sweepOnce(b.Context(), 10); err != nil {
				b.Fatal(err)
			}
			least(&sweep, begun)
		}
		all := queue.Selection{Organism: storetest.WestNile}
		if _, _, err := s.PutInQuarantine(b.Context(), all, queue.OperatorVerdict{Result: queue.PackedResult{Packed: packedBody()}}, 0, 1000); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if _, _, err := s.Requeue(b.Context(), all, 0, 1000); err != nil {
			b.Fatal(err)
		}
		least(&requeue, begun)
	}
	b.ReportMetric(float64(slice.Microseconds())/1000, "claimed-slice-ms")
	b.ReportMetric(float64(sweep.Microseconds())/1000, "sweep-ms")
	b.ReportMetric(float64(requeue.Microseconds())/1000, "requeue-1000-ms")
}

// BenchmarkPublishRevision times the transaction that makes a revision visible, beside
// the longest transaction that stores a part of it.
func BenchmarkPublishRevision(b *testing.B) {
	for _, entries := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(entries), func(b *testing.B) {
			var publish, part time.Duration
			for b.Loop() {
				s, u := benchStore(b, entries)
				made, err := s.Submit(b.Context(), u)
				if err != nil {
					b.Fatal(err)
				}
				mustExec(b, outsider(b, s), "UPDATE entry SET approver = 'root', released_at = submitted_at")
				rev := &revision{Revision: revisionOf(s, versionsOf(made))}
				if err := s.look(b.Context(), rev); err != nil {
					b.Fatal(err)
				}
				if err := s.write(b.Context(), rev.begin); err != nil {
					b.Fatal(err)
				}
				part = max(part, longestPart(b, s, rev))
				begun := time.Now()
				if err := s.writeAndRing(b.Context(), rev.publish); err != nil {
					b.Fatal(err)
				}
				publish += time.Since(begun)
			}
			b.ReportMetric(float64(publish.Microseconds())/1000/float64(b.N), "publish-ms")
			b.ReportMetric(float64(part.Microseconds())/1000, "longest-part-ms")
		})
	}
}
