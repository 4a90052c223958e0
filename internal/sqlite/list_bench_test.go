package sqlite

import (
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// listBenchEntries is an entry set as one group uploads it.
const listBenchEntries = 240_000

// listedStore has so many entries of one group, of which some are released and the
// others processed, with results of 600 bytes.
func listedStore(b *testing.B, entries, released int) *Store {
	b.Helper()
	s, _ := benchStore(b, 0)
	db := outsider(b, s)
	for _, statement := range []string{
		`INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at, released_at, approver)
			WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ?1)
			SELECT i, printf('LOC_%08d', i), 1, (SELECT id FROM organism WHERE key = 'west-nile'), 1, 's' || i, 'anna', 0,
				CASE WHEN i <= ?2 THEN 1 END, CASE WHEN i <= ?2 THEN 'anna' END FROM k`,
		`INSERT INTO data_use_terms (accession, change_number, changed_at, changed_by, terms) SELECT accession, 1, 0, 'anna', 'OPEN' FROM entry WHERE ?1 > ?2 - 1`,
		`INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at, body)
			SELECT 1, id, 1, randomblob(16), organism_id, CASE WHEN id % 100 = 0 THEN 'HAS_ERRORS' WHEN id % 7 = 0 THEN 'HAS_WARNINGS' ELSE 'NO_ISSUES' END,
				randomblob(16), 0, 0, randomblob(600) FROM entry WHERE ?1 > ?2 - 1`,
	} {
		mustExec(b, db, statement, entries, released)
	}
	mustExec(b, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	return s
}

// BenchmarkList asks for pages as people and programs do: of a set that is being
// reviewed, and of one that is nearly all released.
func BenchmarkList(b *testing.B) {
	unreleased := []seqlease.Status{seqlease.Received, seqlease.InProcessing, seqlease.Processed}
	for _, set := range []struct {
		name     string
		released int
	}{{"reviewed", 0}, {"released", listBenchEntries - 1000}} {
		s := listedStore(b, listBenchEntries, set.released)
		for _, page := range []struct {
			name   string
			filter submission.ListFilter
		}{
			{"first", submission.ListFilter{Limit: 50}},
			{"last", submission.ListFilter{Limit: 50, Offset: listBenchEntries - 50}},
			{"unreleased", submission.ListFilter{Statuses: unreleased, Limit: 50}},
			{"last-unreleased", submission.ListFilter{Statuses: unreleased, Limit: 50, Offset: 950}},
			{"errors", submission.ListFilter{Statuses: unreleased[2:], Results: []seqlease.ProcessingResult{seqlease.HasErrors}, Limit: 1000}},
			{"nothing", submission.ListFilter{Statuses: unreleased[:1], Limit: 50}},
			{"released", submission.ListFilter{Statuses: []seqlease.Status{seqlease.ApprovedForRelease}, Limit: 1000}},
			{"all", submission.ListFilter{}},
		} {
			b.Run(set.name+"/"+page.name, func(b *testing.B) {
				page.filter.Organism, page.filter.GroupIDs = storetest.WestNile, []int64{1}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.List(b.Context(), page.filter, func(submission.ListedEntry) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
