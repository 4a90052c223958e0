package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// deletionOf deletes named entries of West Nile virus, or without names all of groups.
func deletionOf(versions []seqlease.AccessionVersion, groups ...int64) submission.Deletion {
	return submission.Deletion{Organism: storetest.WestNile, User: "anna", Scope: seqlease.DeleteAll, Entries: versions, GroupIDs: groups}
}

// lookedAt is a large deletion that hasn't begun.
func lookedAt(t *testing.T, s *Store, d submission.Deletion) *largeDeletion {
	t.Helper()
	del := &deletion{Deletion: d}
	if err := s.read(t.Context(), func(tx *tx) error { return del.look(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	if len(del.found) <= partEntries {
		t.Fatalf("%d entries are no large deletion", len(del.found))
	}
	return newLargeDeletion(del)
}

// turnsOf are all transactions of a deletion.
func turnsOf(s *Store, del *largeDeletion) iter.Seq[func(ctx context.Context) error] {
	return func(yield func(func(ctx context.Context) error) bool) {
		for one := range del.preparation() {
			if !yield(func(ctx context.Context) error { return s.carryOut(ctx, one, s.writeLosing) }) {
				return
			}
		}
		for !del.decided {
			if !yield(func(ctx context.Context) error { return s.carryOut(ctx, del.decide, s.write) }) {
				return
			}
		}
		for more := true; more; {
			if !yield(func(ctx context.Context) error {
				return s.writeLosing(ctx, func(ctx context.Context, t *tx) (err error) {
					more, err = removeDeletedPart(ctx, t, del.id, del.organism.id)
					return err
				})
			}) {
				return
			}
		}
	}
}

// goOn carries out the next transactions of a deletion: at most so many, and none
// after one that fails.
func goOn(t *testing.T, next func() (func(ctx context.Context) error, bool), turns int) (done int, err error) {
	t.Helper()
	for done < turns && err == nil {
		one, more := next()
		if !more {
			break
		}
		err = one(t.Context())
		done++
	}
	return done, err
}

// preparing is how many transactions a deletion of n entries has before its decision.
func preparing(n int) int {
	return 1 + (n+heldEntries-1)/heldEntries + (n+partEntries-1)/partEntries
}

// waitingIn describes what waits in the queue, where, and what has a result.
func waitingIn(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := outsider(t, s).QueryContext(t.Context(), `
		SELECT 'ticket', pipeline_version, lane, rank, entry_id, attempts, hand_outs FROM ticket
		UNION ALL
		SELECT 'ticket', u.pipeline_version, 0, u.rank + e.id - u.first_entry_id, e.id, 0, 0
		FROM ticket_run AS u JOIN entry AS e ON e.id BETWEEN u.first_entry_id AND u.last_entry_id
		WHERE NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = u.pipeline_version AND t.entry_id = e.id)
		  AND NOT EXISTS (SELECT 1 FROM leased AS t WHERE t.pipeline_version = u.pipeline_version AND t.entry_id = e.id)
		  AND NOT EXISTS (SELECT 1 FROM result AS t WHERE t.pipeline_version = u.pipeline_version AND t.entry_id = e.id)
		UNION ALL
		SELECT 'turn', pipeline_version, lane, last_rank, group_id, 0, 0 FROM turn
		UNION ALL
		SELECT outcome, pipeline_version, revision, 0, entry_id, 0, 0 FROM result
		ORDER BY 1, 2, 5`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all strings.Builder
	for rows.Next() {
		var kind string
		var n [6]int64
		if err := rows.Scan(&kind, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, kind, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// wantNoDeletion checks that nothing of a deletion is left.
func wantNoDeletion(t *testing.T, s *Store) {
	t.Helper()
	for _, table := range []string{"upload", "upload_run", "withdrawn_ticket", "withdrawn_run", "changed_entry"} {
		if n := count(t, s, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	for what, query := range map[string]string{
		"documents": "SELECT count(*) FROM submitted AS d WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = d.entry_id)",
		"results":   "SELECT count(*) FROM result AS d WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = d.entry_id)",
		"runs": `SELECT count(*) FROM ticket_run AS u
			WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id BETWEEN u.first_entry_id AND u.last_entry_id)`,
	} {
		if n := count(t, s, query); n != 0 {
			t.Errorf("%d %s without entry", n, what)
		}
	}
	wantIntact(t, s)
}

// messy are entries in all kinds of places: a large upload whose first entries were
// tried and given back, or have results, every other one with errors; small uploads of
// another group; and a large one that stays.
type messy struct {
	deleted, stay []seqlease.AccessionVersion
	groups        []int64 // of what is deleted
}

func submitMessy(t *testing.T, s *Store) (m messy) {
	t.Helper()
	first := groupUpload(t, s, 2*large+100)
	m.deleted = mustSubmit(t, s, first)
	tried, err := s.Claim(t.Context(), benchClaim(30))
	if err != nil {
		t.Fatal(err)
	}
	done, err := s.Claim(t.Context(), benchClaim(30))
	if err != nil {
		t.Fatal(err)
	}
	r := benchResults(done, packedBody(50))
	for i := range r.Lines {
		if i%2 == 0 {
			r.Lines[i].Result = seqlease.HasErrors
		}
	}
	if _, err := s.AcceptResults(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	back := queue.GiveBack{AttemptID: tried.AttemptID, Organism: storetest.WestNile, ClaimedBy: "pipeline", CountsAsAttempt: true}
	if n, err := s.GiveBack(t.Context(), back); err != nil || n != 30 {
		t.Fatalf("gave back %d entries, %v, want 30", n, err)
	}
	m.stay = mustSubmit(t, s, groupUpload(t, s, large))
	small := groupUpload(t, s, 120)
	for range 3 {
		small.Entries = benchEntries(s, 120)
		m.deleted = append(m.deleted, mustSubmit(t, s, small)...)
	}
	m.groups = []int64{first.GroupID, small.GroupID}
	return m
}

// seen are those of the entries that people see.
func seen(t *testing.T, s *Store, versions []seqlease.AccessionVersion) int {
	t.Helper()
	groups, err := s.GroupsOfEntries(t.Context(), versions)
	if err != nil {
		t.Fatal(err)
	}
	return len(groups)
}

// A large deletion that ends anywhere with its process has either taken everything or
// nothing when the store is opened next; beside it, too, people see all or nothing.
func TestOpen_L10_DeletionEndsAsAWhole(t *testing.T) {
	t.Parallel()
	const entries = 2*large + 100 + 3*120
	decision := preparing(entries) + 1
	removed := decision + (entries+partEntries-1)/partEntries + 1
	for end := range removed + 1 {
		t.Run(fmt.Sprintf("after %d of %d", end, removed), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			m := submitMessy(t, s)
			before := waitingIn(t, s)
			next, stop := iter.Pull(turnsOf(s, lookedAt(t, s, deletionOf(nil, m.groups...))))
			defer stop()
			if done, err := goOn(t, next, end); err != nil || done != end {
				t.Fatalf("%d transactions, %v", done, err)
			}
			left := len(m.deleted)
			if end >= decision {
				left = 0
			}
			if n := seen(t, s, m.deleted); n != left {
				t.Errorf("beside the deletion %d entries are seen, want %d", n, left)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(t.Context(), Options{Path: path}); err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the test is over
			if err := s.Register(t.Context(), storetest.Organisms()); err != nil {
				t.Fatal(err)
			}
			if n := seen(t, s, m.deleted); n != left {
				t.Errorf("afterwards %d entries are seen, want %d", n, left)
			}
			wantNoDeletion(t, s)
			if n := count(t, s, "SELECT count(*) FROM audit WHERE action = 'delete' AND user_name = 'anna' AND organism_id > 0"); n != len(m.deleted)-left {
				t.Errorf("the audit log names %d deleted entries, want %d", n, len(m.deleted)-left)
			}
			if left > 0 {
				if diff := cmp.Diff(before, waitingIn(t, s)); diff != "" {
					t.Errorf("the queue isn't as it was (-want +got):\n%s", diff)
				}
				return
			}
			if got := mustClaim(t, s, 4*large); !cmp.Equal(got, m.stay) {
				t.Errorf("claimed %d entries, want the %d that stay, in order", len(got), len(m.stay))
			}
		})
	}
}

// While a deletion is under way claims pass by what it has withdrawn, and neither
// operators nor the reconciler bring any of it back. Called off, it leaves no trace.
func TestDelete_L2_ClaimsPassByWhatIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := submitMessy(t, s)
	del := lookedAt(t, s, deletionOf(nil, m.groups...))
	next, stop := iter.Pull(turnsOf(s, del))
	defer stop()
	if _, err := goOn(t, next, preparing(len(del.found))); err != nil {
		t.Fatal(err)
	}
	if n, _, err := s.Reprocess(t.Context(), queue.Selection{Organism: storetest.WestNile, All: true}, 0, 10*large); err != nil || n != 0 {
		t.Errorf("%d entries are processed again, %v, want none", n, err)
	}
	if n, _, err := s.Reconcile(t.Context(), 0, 10*large); err != nil || n != 0 {
		t.Errorf("the reconciler added %d tickets, %v, want none", n, err)
	}
	if got := mustClaim(t, s, 4*large); !cmp.Equal(got, m.stay) {
		t.Errorf("claimed %d entries, want the %d that stay, in order", len(got), len(m.stay))
	}
	if n := seen(t, s, m.deleted); n != len(m.deleted) {
		t.Errorf("%d of %d entries are seen before the decision", n, len(m.deleted))
	}
	if err := s.callOff(t.Context(), del.id); err != nil {
		t.Fatal(err)
	}
	wantNoDeletion(t, s)
	if got := mustClaim(t, s, 4*large); len(got) != len(m.deleted)-60 {
		t.Errorf("claimed %d entries after the deletion was called off, want the %d that were never tried", len(got), len(m.deleted)-60)
	}
}

// What happens to entries between the first look and the decision counts as if it had
// come before the deletion: it doesn't take them, and is refused if it names them.
func TestDelete_L10_WhatChangesMeanwhileStays(t *testing.T) {
	t.Parallel()
	held, withdrawn := 2, preparing(2*large+100+3*120)
	for _, c := range []struct {
		name    string
		scope   seqlease.DeletionScope
		turns   int // of the deletion that come before the change
		refuses bool
		change  func(t *testing.T, s *Store, m messy) (change func() []seqlease.AccessionVersion)
	}{
		{"released", seqlease.DeleteAll, withdrawn, true, releaseGood},
		{"edited", seqlease.DeleteWithErrors, withdrawn, false, editOne},
		{"claimed", seqlease.DeleteAll, held, true, claimTried},
		{"processed again", seqlease.DeleteWithErrors, withdrawn, false, processAgain},
	} {
		for _, byName := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by name %v", c.name, byName), func(t *testing.T) {
				t.Parallel()
				s := newStore(t)
				m := submitMessy(t, s)
				d := deletionOf(nil, m.groups...)
				if byName {
					d = deletionOf(m.deleted)
				}
				d.Scope = c.scope
				change := c.change(t, s, m)
				del := lookedAt(t, s, d)
				found := len(del.found)
				next, stop := iter.Pull(turnsOf(s, del))
				defer stop()
				if _, err := goOn(t, next, c.turns); err != nil {
					t.Fatal(err)
				}
				changed := change()
				_, err := goOn(t, next, 1000)
				if byName && c.refuses {
					var state *submission.StateError
					if !errors.As(err, &state) || len(state.WrongStatus) != len(changed) {
						t.Fatalf("the deletion ended with %v, want a fault for each of %d", err, len(changed))
					}
					if err := s.callOff(t.Context(), del.id); err != nil {
						t.Fatal(err)
					}
					wantNoDeletion(t, s)
					if n := seen(t, s, m.deleted); n != len(m.deleted) {
						t.Errorf("%d of %d entries are left", n, len(m.deleted))
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				wantNoDeletion(t, s)
				if n := seen(t, s, changed); n != len(changed) || n == 0 {
					t.Errorf("%d of %d entries that changed are left", n, len(changed))
				}
				if got := len(del.deleted()); got != found-len(changed) {
					t.Errorf("%d entries were deleted, want %d less %d", got, found, len(changed))
				}
				if n, want := seen(t, s, m.deleted), len(m.deleted)-len(del.deleted()); n != want {
					t.Errorf("%d entries are left, want %d", n, want)
				}
			})
		}
	}
}

func releaseGood(t *testing.T, s *Store, _ messy) func() []seqlease.AccessionVersion {
	return func() []seqlease.AccessionVersion {
		a := submission.Approval{Organism: storetest.WestNile, Approver: "root", Scope: seqlease.ApproveAll}
		released, err := s.Approve(t.Context(), a)
		if err != nil || len(released) != 15 {
			t.Fatalf("released %d entries, %v, want 15", len(released), err)
		}
		return released
	}
}

// claimTried claims entries that were tried before, whose tickets are written out.
func claimTried(t *testing.T, s *Store, _ messy) func() []seqlease.AccessionVersion {
	return func() []seqlease.AccessionVersion {
		var lease queue.Lease
		c := benchClaim(30)
		n, err := s.moveToLease(t.Context(), c, []lanes{suspects}, &lease)
		if err != nil || n == 0 {
			t.Fatalf("claimed %d entries, %v", n, err)
		}
		if lease.Entries, err = s.readLease(t.Context(), c.AttemptID, n); err != nil {
			t.Fatal(err)
		}
		return entriesOf(lease)
	}
}

// makeFaulty gives all entries a result with errors.
func makeFaulty(t *testing.T, s *Store) {
	t.Helper()
	db := outsider(t, s)
	mustExec(t, db, "DELETE FROM ticket")
	mustExec(t, db, "DELETE FROM ticket_run")
	mustExec(t, db, `INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id,
			processed_at, claimed_by, body)
		SELECT 1, id, revision, randomblob(16), organism_id, 'HAS_ERRORS', x'', 0, 0, '', x'' FROM entry WHERE true
		ON CONFLICT DO UPDATE SET outcome = excluded.outcome`)
}

func editOne(t *testing.T, s *Store, m messy) func() []seqlease.AccessionVersion {
	makeFaulty(t, s)
	return func() []seqlease.AccessionVersion {
		av := m.deleted[700]
		data := []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`)
		if err := s.Edit(t.Context(), submission.Edit{Organism: storetest.WestNile, User: "anna", AccessionVersion: av, Data: data}); err != nil {
			t.Fatal(err)
		}
		return []seqlease.AccessionVersion{av}
	}
}

// processAgain has an entry with errors claimed, whose result then has none.
func processAgain(t *testing.T, s *Store, m messy) func() []seqlease.AccessionVersion {
	makeFaulty(t, s)
	again := []seqlease.AccessionVersion{m.deleted[700]}
	if n, _, err := s.Reprocess(t.Context(), queue.Selection{Organism: storetest.WestNile, Entries: again}, 0, 10); err != nil || n != 1 {
		t.Fatalf("%d entries are processed again, %v, want 1", n, err)
	}
	lease, err := s.Claim(t.Context(), benchClaim(1))
	if err != nil || !cmp.Equal(entriesOf(lease), again) {
		t.Fatalf("claimed %v, %v, want %v", entriesOf(lease), err, again)
	}
	return func() []seqlease.AccessionVersion {
		if _, err := s.AcceptResults(t.Context(), benchResults(lease, packedBody(50))); err != nil {
			t.Fatal(err)
		}
		return again
	}
}

// Claims get their turns while very many entries are deleted: as many as the deletion
// has transactions. Each entry is either deleted or held.
func TestDelete_L2_ClaimsGoOn(t *testing.T) {
	t.Parallel()
	const n = 100_000
	s := newStore(t)
	u := groupUpload(t, s, n)
	versions := mustSubmit(t, s, u)
	mustSubmit(t, s, groupUpload(t, s, 20_000)) // there is always something to claim
	type answer struct {
		deleted []seqlease.AccessionVersion
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		deleted, err := s.Delete(t.Context(), deletionOf(nil, u.GroupID))
		done <- answer{deleted, err}
	}()
	claims := 0
	held := map[seqlease.AccessionVersion]bool{}
	var got answer
	for ended := false; !ended; {
		select {
		case got = <-done:
			ended = true
		default:
			list := mustClaim(t, s, 5)
			if len(list) != 5 {
				t.Fatalf("claim %d got %d entries, want 5", claims+1, len(list))
			}
			claims++
			for _, av := range list {
				held[av] = true
			}
		}
	}
	if got.err != nil {
		t.Fatal(got.err)
	}
	if least := n / partEntries; claims < least {
		t.Errorf("%d claims were answered while %d entries were deleted, want at least %d", claims, n, least)
	}
	deleted := make(map[seqlease.AccessionVersion]bool, n)
	for _, av := range got.deleted {
		deleted[av] = true
	}
	for _, av := range versions {
		if deleted[av] == held[av] {
			t.Errorf("%s: deleted %v, held %v", av, deleted[av], held[av])
		}
	}
	wantNoDeletion(t, s)
}

// A run of tickets falls to pieces that lie in the deletion's runs or between them.
func TestTicketRun_IsCut(t *testing.T) {
	t.Parallel()
	run := ticketRunOf{version: 2, idRun: idRun{10, 19}, rank: 100}
	for _, c := range []struct {
		name            string
		cut             []idRun
		inside, outside []ticketRunOf
	}{
		{"none", nil, nil, []ticketRunOf{run}},
		{"others", []idRun{{1, 9}, {20, 30}}, nil, []ticketRunOf{run}},
		{"all", []idRun{{1, 30}}, []ticketRunOf{run}, nil},
		{
			"one end and the middle",
			[]idRun{{8, 11}, {14, 14}},
			[]ticketRunOf{{2, idRun{10, 11}, 100}, {2, idRun{14, 14}, 104}},
			[]ticketRunOf{{2, idRun{12, 13}, 102}, {2, idRun{15, 19}, 105}},
		},
		{"neighbours", []idRun{{10, 14}, {15, 18}}, []ticketRunOf{{2, idRun{10, 14}, 100}, {2, idRun{15, 18}, 105}}, []ticketRunOf{{2, idRun{19, 19}, 109}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inside, outside := run.cut(c.cut)
			if !slices.Equal(inside, c.inside) || !slices.Equal(outside, c.outside) {
				t.Errorf("got %v and %v, want %v and %v", inside, outside, c.inside, c.outside)
			}
		})
	}
}

// The decision ends the leases on the entries, though their rows are there still, and a
// result that comes later finds no entry.
func TestDelete_L10_DecisionEndsLeases(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := submitMessy(t, s)
	makeFaulty(t, s)
	if n, _, err := s.Reprocess(t.Context(), queue.Selection{Organism: storetest.WestNile, Entries: m.deleted[600:610]}, 0, 10*large); err != nil || n != 10 {
		t.Fatalf("%d entries are processed again, %v, want 10", n, err)
	}
	lease, err := s.Claim(t.Context(), benchClaim(10))
	if err != nil || len(lease.Entries) != 10 {
		t.Fatalf("claimed %d entries, %v, want 10", len(lease.Entries), err)
	}
	d := deletionOf(nil, m.groups...)
	d.Scope = seqlease.DeleteWithErrors
	del := lookedAt(t, s, d)
	next, stop := iter.Pull(turnsOf(s, del))
	defer stop()
	if _, err := goOn(t, next, preparing(len(del.found))+1); err != nil || !del.decided {
		t.Fatalf("decided %v, %v", del.decided, err)
	}
	_, err = s.AcceptResults(t.Context(), benchResults(lease, packedBody(50)))
	var refusal *seqlease.RefusedError
	if !errors.As(err, &refusal) || len(refusal.Refused) != 10 || refusal.Refused[0].Reason != seqlease.RefusedNotFound {
		t.Errorf("results of deleted entries: %v, want 10 that aren't found", err)
	}
	if leases, err := s.Leases(t.Context(), storetest.WestNile, nil, 10); err != nil || len(leases) != 0 {
		t.Errorf("%d leases are left, %v", len(leases), err)
	}
	wantOnlyStaying(t, s, m)
	if _, err := goOn(t, next, 1000); err != nil {
		t.Fatal(err)
	}
	wantNoDeletion(t, s)
}

// wantOnlyStaying checks that nothing that belongs to deleted entries is seen, whether
// their rows are there or not; all entries had results with errors.
func wantOnlyStaying(t *testing.T, s *Store, m messy) {
	t.Helper()
	failed, err := s.FailedResults(t.Context(), storetest.WestNile, 1, 0, 10*large)
	if err != nil || len(failed) != len(m.stay) || failed[0].AccessionVersion != m.stay[0] {
		t.Errorf("%d results with errors, %v, want %d", len(failed), err, len(m.stay))
	}
	if in, err := s.Quarantined(t.Context(), storetest.WestNile, 0, 10); err != nil || len(in) != 0 {
		t.Errorf("%d entries are in quarantine, %v", len(in), err)
	}
	if workers, err := s.FailingWorkers(t.Context(), storetest.WestNile, time.Hour, 10); err != nil || len(workers) != 0 {
		t.Errorf("failing workers: %v, %v", workers, err)
	}
	statistics, err := s.PipelineStatistics(t.Context())
	if err != nil || len(statistics) != 1 || statistics[0].Results != int64(len(m.stay)) {
		t.Errorf("statistics %v, %v, want %d results", statistics, err, len(m.stay))
	}
	if terms, err := s.TermsHistory(t.Context(), m.deleted[0].Accession, 0, 10); err != nil || len(terms) != 1 {
		t.Errorf("history of the terms: %v, %v, want its one row, which outlives the entry", terms, err)
	}
	if _, err := s.History(t.Context(), storetest.WestNile, m.deleted[0], 10); !errors.Is(err, seqlease.ErrNotFound) {
		t.Errorf("history of a deleted entry: %v", err)
	}
	if n := count(t, s, "SELECT count(*) FROM failure"); n == 0 {
		t.Error("there never were failures")
	}
}

// Nobody adds a version of what was deleted as long as its rows are there: the next one
// has the same number.
func TestDelete_NextVersionWaitsForTheRows(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	versions := releasedEntries(t, s, large)
	made, err := s.Revise(t.Context(), revisionOf(s, versions))
	if err != nil {
		t.Fatal(err)
	}
	del := lookedAt(t, s, deletionOf(versionsOf(made)))
	release, err := s.settle(t.Context(), del)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	_, busy := s.growing.try([]seqlease.Accession{versions[7].Accession})
	if busy == nil {
		t.Fatal("a version may be added before the rows are gone")
	}
	go func() {
		_, err := s.Revise(t.Context(), revisionOf(s, versions))
		done <- err
	}()
	if err := s.removeDeleted(t.Context(), del.id, del.organism.id); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("revise anew: %v", err)
	}
	wantNoDeletion(t, s)
}

// What is edited, or to leave quarantine, while a deletion is about to take it gets no
// ticket, which would outlive it.
func TestDelete_L10_NoTicketComesMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := submitMessy(t, s)
	sel := queue.Selection{Organism: storetest.WestNile, Entries: m.deleted[len(m.deleted)-3:]}
	verdict := queue.OperatorVerdict{By: "root", Reason: "odd", Result: queue.PackedResult{Packed: packedBody(50)}}
	if n, _, err := s.PutInQuarantine(t.Context(), sel, verdict, 0, 10); err != nil || n != 3 {
		t.Fatalf("%d entries were put in quarantine, %v, want 3", n, err)
	}
	del := lookedAt(t, s, deletionOf(nil, m.groups...))
	next, stop := iter.Pull(turnsOf(s, del))
	defer stop()
	if _, err := goOn(t, next, preparing(len(del.found))); err != nil {
		t.Fatal(err)
	}
	if n, _, err := s.Requeue(t.Context(), sel, 0, 10); err != nil || n != 0 {
		t.Errorf("%d entries left quarantine, %v, want none", n, err)
	}
	done := m.deleted[40]
	data := []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`)
	if err := s.Edit(t.Context(), submission.Edit{Organism: storetest.WestNile, User: "anna", AccessionVersion: done, Data: data}); err != nil {
		t.Fatal(err)
	}
	if _, err := goOn(t, next, 1000); err != nil {
		t.Fatal(err)
	}
	if n := seen(t, s, m.deleted); n != 0 {
		t.Errorf("%d entries are left", n)
	}
	wantNoDeletion(t, s)
	if got := mustClaim(t, s, 4*large); !cmp.Equal(got, m.stay) {
		t.Errorf("claimed %d entries, want the %d that stay", len(got), len(m.stay))
	}
}

// A process that is killed while it deletes leaves all entries or none, wherever it is:
// here once before and once after the decision, as an outsider sees it.
func TestOpen_L10_KilledInADeletion(t *testing.T) {
	t.Parallel()
	const entries = 40 * partEntries
	for _, c := range []struct {
		name, until string
		left        []int
	}{
		{"while it withdraws", "SELECT (SELECT count(*) FROM upload_run) + NOT EXISTS (SELECT 1 FROM entry)", []int{entries, 0}}, // the signal may be late
		{"while it removes", "SELECT NOT EXISTS (SELECT 1 FROM published_entry)", []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := killedOnce(t, c.until, childDeletes+"="+strconv.Itoa(entries))
			left := count(t, s, "SELECT count(*) FROM published_entry")
			if !slices.Contains(c.left, left) {
				t.Errorf("%d entries are left, want one of %v", left, c.left)
			}
			if n := count(t, s, "SELECT count(*) FROM audit WHERE action = 'delete'"); n != entries-left {
				t.Errorf("the audit log names %d deleted entries, and %d of %d are left", n, left, entries)
			}
			wantNoDeletion(t, s)
		})
	}
}
