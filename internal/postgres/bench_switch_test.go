package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/storetest"
)

// BenchmarkSwitch is what it costs to find out whether a version may become current,
// and to make it so, with a million entries that both versions have processed: a look
// while the last entry blocks it, one through all, and the switch, during which results
// wait. An operation is all of them; results of a kilobyte take 3 GB.
func BenchmarkSwitch(b *testing.B) {
	const entries, blocked = 1_000_000, 100 // ids are 1001 to 1001000
	s := durableStore(b)
	group := register(b, s)
	submitN(b, s, group.GroupID, 1)
	exec := func(statement string, arguments ...any) {
		b.Helper()
		if _, err := s.Pool().Exec(b.Context(), statement, arguments...); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
	exec(`INSERT INTO entry (id, version, group_id, dictionary_id, organism_id, accession, submission_id, submitter, submitted)
		SELECT n + 1000, 1, e.group_id, 0, e.organism_id, 'X' || n, 's', 'anna', '' FROM generate_series(1, $1) AS n, (SELECT * FROM entry) AS e`, entries)
	exec("DELETE FROM ticket")
	exec("INSERT INTO pipeline_version (organism_id, version) SELECT id, 2 FROM organism")
	for version := 1; version <= 2; version++ {
		exec(fmt.Sprintf(`INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision, claimed_by_sum, outcome, digest, body)
			SELECT %d, id, gen_random_uuid(), 0, now(), organism_id, 1, 0, CASE WHEN id %% 100 = 0 THEN 2 ELSE 0 END, decode(repeat('00', 16), 'hex'), decode(repeat('ab', 1000), 'hex')
			FROM entry WHERE id > 1000`, version))
	}
	exec("VACUUM (ANALYZE) result")
	exec("VACUUM (ANALYZE) entry")
	c := reprocess.Candidate{Organism: storetest.WestNile, Current: 1, Version: 2}
	took := map[string]time.Duration{}
	timed := func(name string, f func() error) {
		b.Helper()
		began := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		took[name] += time.Since(began)
	}
	for b.Loop() {
		timed("none-ns/op", func() error { _, err := s.Candidates(b.Context()); return err })
		exec("UPDATE result SET outcome = 2 WHERE pipeline_version = 2 AND entry_id = $1", entries+999)
		var look reprocess.Look
		var err error
		after := int64(0)
		for look.Blocker == 0 && !look.End {
			timed("pass-ns/op", func() error { look, err = s.FindBlocker(b.Context(), c, after, 20_000); return err })
			after = look.Last
		}
		if look.Blocker != entries+999 {
			b.Fatalf("the blocker is %+v", look)
		}
		for range blocked {
			timed("blocked-ns/op", func() error { look, err = s.FindBlocker(b.Context(), c, look.Blocker-1, 100); return err })
		}
		exec("UPDATE result SET outcome = 0 WHERE pipeline_version = 2 AND entry_id = $1", entries+999)
		timed("compare-ns/op", func() error { _, err := s.Compare(b.Context(), c); return err })
		var switched bool
		timed("switch-ns/op", func() error { switched, err = s.Switch(b.Context(), c); return err })
		if !switched {
			b.Fatal("not switched")
		}
		exec("UPDATE organism SET current_version = 1")
	}
	for name, d := range took {
		n := float64(b.N)
		if name == "blocked-ns/op" {
			n *= blocked
		}
		b.ReportMetric(float64(d.Nanoseconds())/n, name)
	}
	b.ReportMetric(0, "ns/op")
}
