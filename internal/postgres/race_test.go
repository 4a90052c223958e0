package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// The tests of this file stop one statement at the point that decides a race,
// by a trigger that waits for an advisory lock, and let another one pass.

// stage is a store and a second connection that holds statements up.
type stage struct {
	*postgres.Store
	group   seqlease.Group
	other   *pgx.Conn
	address string // for further connections
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageOf(t, newHarness("", postgres.Options{}))
}

func newStageOf(t *testing.T, h *harness) *stage {
	t.Helper()
	s := h.open(t)
	address := h.databaseOf(s).address
	g := &stage{Store: s, group: register(t, s), other: connect(t, address), address: address}
	g.exec(t, `CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN coalesce(NEW, OLD); END $$`)
	return g
}

// connect opens a connection for as long as the test runs.
func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// exec runs a statement on the second connection.
func (g *stage) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := g.other.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// ask reads one number on the second connection.
func (g *stage) ask(t *testing.T, query string) (n int64) {
	t.Helper()
	if err := g.other.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// stopAt makes every statement that reaches the point ("BEFORE DELETE ON
// ticket") wait there until goOn.
func (g *stage) stopAt(t *testing.T, point string) {
	t.Helper()
	g.exec(t, "CREATE TRIGGER stop "+point+" FOR EACH ROW EXECUTE FUNCTION stop_here()")
	g.exec(t, "SELECT pg_advisory_lock(1)")
}

// goOn lets the stopped statement pass. The trigger stays and stops nobody.
func (g *stage) goOn(t *testing.T) {
	t.Helper()
	g.exec(t, "SELECT pg_advisory_unlock(1)")
}

// awaitStopped returns when n sessions wait for a lock of any kind.
func (g *stage) awaitStopped(t *testing.T, n int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		var waiting int64
		err := g.other.QueryRow(ctx, `SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
			WHERE datname = current_database() AND NOT granted`).Scan(&waiting)
		if err != nil {
			t.Fatalf("%d sessions wait for a lock, want %d: %v", waiting, n, err)
		}
		if waiting == n {
			return
		}
	}
}

// returned gives the lease back by its user.
func returned(l queue.Lease) queue.GiveBack {
	return queue.GiveBack{AttemptID: l.AttemptID, Organism: storetest.WestNile, ClaimedBy: "pipeline"}
}

func renewal(l queue.Lease, d time.Duration) queue.Renew {
	return queue.Renew{AttemptID: l.AttemptID, Organism: storetest.WestNile, ClaimedBy: "pipeline", Lease: d}
}

// later runs f beside the test and returns where its error comes.
func later(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

func (g *stage) mustClaim(t *testing.T, c queue.Claim) queue.Lease {
	t.Helper()
	lease, err := g.Claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func names(l queue.Lease) []seqlease.AccessionVersion {
	list := make([]seqlease.AccessionVersion, len(l.Entries))
	for i, e := range l.Entries {
		list[i] = e.AccessionVersion
	}
	return list
}

// endLeases makes every lease run out.
func (g *stage) endLeases(t *testing.T) {
	t.Helper()
	g.exec(t, "UPDATE lease SET lease_until = now() - interval '1 second'")
	g.Forget()
}

// secondVersion registers pipeline version 2 with tickets for all entries.
func (g *stage) secondVersion(t *testing.T) {
	t.Helper()
	g.exec(t, "INSERT INTO pipeline_version (organism_id, version) SELECT id, 2 FROM organism")
	g.exec(t, "INSERT INTO change (organism_id, scope, bucket, nonce) SELECT id, 2, b, 0 FROM organism, generate_series(0, 15) AS b")
	g.exec(t, "INSERT INTO ticket (organism_id, pipeline_version, entry_id) SELECT organism_id, 2, id FROM entry")
}

// processed submits n entries and has them processed by version 1.
func (g *stage) processed(t *testing.T, n int) []seqlease.AccessionVersion {
	t.Helper()
	versions := submitN(t, g.Store, g.group.GroupID, n)
	if _, err := g.AcceptResults(t.Context(), answer(g.mustClaim(t, askFor(n)), []byte("x"))); err != nil {
		t.Fatal(err)
	}
	return versions
}

func askSecond(n int) queue.Claim {
	c := askFor(n)
	c.PipelineVersion = 2
	return c
}

func answerSecond(l queue.Lease) queue.Submission {
	s := answer(l, []byte("y"))
	s.PipelineVersion = 2
	return s
}

func (g *stage) editLater(av seqlease.AccessionVersion) func() error {
	return func() error {
		return g.Edit(context.Background(), submission.Edit{Organism: storetest.WestNile, AccessionVersion: av, Data: []byte(`{"edited":true}`)})
	}
}

func wantReasons(t *testing.T, err error, want ...seqlease.RefusalReason) {
	t.Helper()
	var refused *seqlease.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got error %v, want refusals %v", err, want)
	}
	var got []seqlease.RefusalReason
	for _, r := range refused.Refused {
		got = append(got, r.Reason)
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused for %v, want %v", got, want)
	}
}

// Trap 2: what decides is tested again on the row that was locked.
func TestRace_L7_LeaseRenewedAfterTheSnapshotIsNotTakenOver(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 3)
	held := g.mustClaim(t, askFor(2))
	g.endLeases(t)
	g.stopAt(t, "BEFORE DELETE ON ticket")
	var lease queue.Lease
	done := later(func() (err error) {
		lease, err = g.Claim(context.Background(), askFor(3))
		return err
	})
	g.awaitStopped(t, 1)
	g.exec(t, "UPDATE lease SET lease_until = now() + interval '1 hour'")
	g.goOn(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(lease.Entries) != 1 || lease.Ended != 0 {
		t.Errorf("claimed %v from %d ended leases, want only the waiting entry", names(lease), lease.Ended)
	}
	if _, err := g.AcceptResults(t.Context(), answer(held, []byte("x"))); err != nil {
		t.Errorf("results of the renewed lease: %v", err)
	}
}

// Race 1: what a takeover gets are the ids in the row as it is when it is deleted.
func TestRace_L3_EntryCutAfterTheSnapshotIsNotTakenOver(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 3)
	g.mustClaim(t, askFor(2))
	g.endLeases(t)
	g.stopAt(t, "BEFORE DELETE ON ticket")
	var lease queue.Lease
	done := later(func() (err error) {
		lease, err = g.Claim(context.Background(), askFor(3))
		return err
	})
	g.awaitStopped(t, 1)
	g.exec(t, `UPDATE lease SET entry_ids = entry_ids[2:], positions = positions[2:], revisions = revisions[2:],
		attempts = attempts[2:], hand_outs = hand_outs[2:]`)
	g.goOn(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(names(lease), names(g.mustClaim(t, askFor(3))))
	slices.SortFunc(all, seqlease.AccessionVersion.Compare)
	if diff := cmp.Diff(versions[1:], all); diff != "" {
		t.Errorf("claimed after the first entry was cut (-want +got):\n%s", diff)
	}
}

// L2: a claim passes by an ended lease that somebody has locked, and by locked tickets.
func TestRace_L2_ClaimNeverWaitsForARow(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 4)
	g.mustClaim(t, askFor(1))
	g.endLeases(t)
	g.exec(t, "BEGIN")
	g.exec(t, "SELECT FROM lease FOR UPDATE")
	g.exec(t, "SELECT FROM ticket ORDER BY entry_id LIMIT 1 FOR UPDATE")
	if diff := cmp.Diff(versions[2:], names(g.mustClaim(t, askFor(4)))); diff != "" {
		t.Errorf("claimed beside the locked rows (-want +got):\n%s", diff)
	}
	if got := names(g.mustClaim(t, askFor(4))); len(got) != 0 {
		t.Errorf("claimed locked rows %v", got)
	}
	g.exec(t, "ROLLBACK")
	g.Forget()                                                                        // a roll-back leaves no mark; without this it takes up to a second
	for _, want := range [][]seqlease.AccessionVersion{versions[1:2], versions[:1]} { // suspects come after what is fresh
		if diff := cmp.Diff(want, names(g.mustClaim(t, askFor(4)))); diff != "" {
			t.Errorf("claimed after the locks were gone (-want +got):\n%s", diff)
		}
	}
}

// Race 2: the fence reads the clock after the lock was waited for.
func TestRace_L3_LeaseThatEndsDuringTheLockWaitIsLost(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*stage, queue.Lease) error{
		"accept": func(g *stage, l queue.Lease) error {
			return only(g.AcceptResults(context.Background(), answer(l, []byte("x"))))
		},
		"renew": func(g *stage, l queue.Lease) error {
			_, err := g.Renew(context.Background(), renewal(l, time.Hour))
			return err
		},
		"give back": func(g *stage, l queue.Lease) error {
			_, err := g.GiveBack(context.Background(), returned(l))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			submitN(t, g.Store, g.group.GroupID, 2)
			lease := g.mustClaim(t, askFor(2))
			g.exec(t, "UPDATE lease SET lease_until = clock_timestamp() + interval '2 seconds'")
			g.exec(t, "BEGIN")
			g.exec(t, "SELECT FROM lease FOR UPDATE")
			done := later(func() error { return act(g, lease) })
			g.awaitStopped(t, 1)
			g.exec(t, "SELECT pg_sleep(extract(epoch FROM lease_until - clock_timestamp())) FROM lease")
			g.exec(t, "COMMIT")
			if err := <-done; !errors.Is(err, seqlease.ErrLeaseLost) {
				t.Errorf("got %v, want %v", err, seqlease.ErrLeaseLost)
			}
			if n := g.ask(t, "SELECT count(*) FROM result"); n != 0 {
				t.Errorf("%d late results were stored", n)
			}
		})
	}
}

// Race 3 and trap 13: an edit waits for a running submission, which locks no
// entry, and then removes its result.
func TestRace_L10_EditWaitsForARunningSubmission(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	lease := g.mustClaim(t, askSecond(2))
	g.stopAt(t, "BEFORE INSERT ON result")
	accepted := later(func() error { return only(g.AcceptResults(context.Background(), answerSecond(lease))) })
	g.awaitStopped(t, 1)
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-accepted, <-edited); err != nil {
		t.Fatal(err)
	}
	g.wantEdited(t, 1)
	wantReasons(t, only(g.AcceptResults(t.Context(), answerSecond(lease))), seqlease.RefusedEdited)
}

// wantEdited checks that exactly the first entry is edited: it has tickets of
// both versions without attempts, no result and no place in a lease.
func (g *stage) wantEdited(t *testing.T, wantOtherResults int64) {
	t.Helper()
	const first = "(SELECT min(id) FROM entry)"
	for query, want := range map[string]int64{
		"SELECT revision FROM entry WHERE id = " + first:                                                             2,
		"SELECT count(*) FROM ticket WHERE attempts = 0 AND hand_outs = 0 AND entry_id = " + first:                   2,
		"SELECT count(*) FROM ticket WHERE attempts > 0 AND entry_id = " + first:                                     0,
		"SELECT count(*) FROM result WHERE entry_id = " + first:                                                      0,
		"SELECT count(*) FROM lease WHERE ARRAY[" + first + "] && entry_ids":                                         0,
		"SELECT count(*) FROM result WHERE pipeline_version = 2 AND entry_id <> " + first:                            wantOtherResults,
		"SELECT count(*) FROM (SELECT FROM ticket GROUP BY pipeline_version, entry_id HAVING count(*) > 1) AS twice": 0,
	} {
		if got := g.ask(t, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// Race 3: an edit doesn't miss the claim that is committing.
func TestRace_L10_EditCutsTheLeaseOfACommittingClaim(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	g.stopAt(t, "BEFORE DELETE ON ticket")
	var lease queue.Lease
	claimed := later(func() (err error) {
		lease, err = g.Claim(context.Background(), askSecond(2))
		return err
	})
	g.awaitStopped(t, 1)
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-claimed, <-edited); err != nil {
		t.Fatal(err)
	}
	g.wantEdited(t, 0)
	wantReasons(t, only(g.AcceptResults(t.Context(), answerSecond(lease))), seqlease.RefusedEdited)
}

// Race 3: nor the ticket that a takeover makes of what it doesn't need.
func TestRace_L10_EditFindsTheSurplusOfATakeover(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	g.mustClaim(t, askSecond(2))
	g.endLeases(t)
	g.stopAt(t, "BEFORE INSERT ON ticket")
	var lease queue.Lease
	claimed := later(func() (err error) {
		lease, err = g.Claim(context.Background(), askSecond(1))
		return err
	})
	g.awaitStopped(t, 1)
	// versions[0] goes into the new lease, versions[1] becomes a ticket.
	edited := later(g.editLater(versions[1]))
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-claimed, <-edited); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(versions[:1], names(lease)); diff != "" {
		t.Errorf("taken over (-want +got):\n%s", diff)
	}
	if n := g.ask(t, "SELECT count(*) FROM ticket WHERE pipeline_version = 2 AND attempts = 0"); n != 1 {
		t.Errorf("the edited entry has %d fresh tickets of version 2, want 1", n)
	}
	again := g.mustClaim(t, askSecond(2))
	if diff := cmp.Diff(versions[1:], names(again)); diff != "" {
		t.Errorf("claimed after the edit (-want +got):\n%s", diff)
	}
	data, err := g.Unpack(t.Context(), again.Entries[0].Packed)
	if err != nil || string(data) != `{"edited":true}` || again.Entries[0].Attempt != 1 {
		t.Errorf("claimed %s in attempt %d, want the edited data in attempt 1", data, again.Entries[0].Attempt)
	}
}

// Race 3: a deletion leaves no ticket behind that a takeover made meanwhile.
func TestRace_L10_DeleteFindsTheSurplusOfATakeover(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	g.mustClaim(t, askSecond(2))
	g.endLeases(t)
	g.stopAt(t, "BEFORE INSERT ON ticket")
	claimed := later(func() error {
		_, err := g.Claim(context.Background(), askSecond(1))
		return err
	})
	g.awaitStopped(t, 1)
	deleted := later(func() error { return remove(context.Background(), g.Store, versions[1:]) })
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-claimed, <-deleted); err != nil {
		t.Fatal(err)
	}
	if n := g.ask(t, "SELECT count(*) FROM ticket WHERE entry_id NOT IN (SELECT id FROM entry)"); n != 0 {
		t.Errorf("%d tickets of the deleted entry are left", n)
	}
}

// L3: the revision is a fence of its own, should a lease hold an older one.
func TestRace_L3_ResultOfAnOlderRevisionIsRefused(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	lease := g.mustClaim(t, askFor(2))
	g.exec(t, "UPDATE entry SET revision = 2 WHERE id = (SELECT max(id) FROM entry)")
	wantReasons(t, only(g.AcceptResults(t.Context(), answer(lease, []byte("x")))), seqlease.RefusedEdited)
	if n := g.ask(t, "SELECT count(*) FROM result"); n != 0 {
		t.Errorf("%d results were stored, want none", n)
	}
	page, err := g.ReadClaimed(t.Context(), lease.AttemptID, 0, 10)
	if err != nil || len(page) != 1 {
		t.Errorf("read %d claimed entries, %v, want the one at the claimed revision", len(page), err)
	}
}

// L14: what a takeover puts back changes the mark; a lease that ends doesn't.
func TestRace_L14_SurplusChangesTheMark(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	g.mustClaim(t, askFor(2))
	before := g.mustClaim(t, askFor(0)).Mark
	g.endLeases(t)
	if ended := g.mustClaim(t, askFor(0)).Mark; ended != before {
		t.Errorf("the mark is %s after the lease end, want %s", ended, before)
	}
	g.mustClaim(t, askFor(1))
	if after := g.mustClaim(t, askFor(0)).Mark; after <= before {
		t.Errorf("the mark is %s after a takeover with surplus, want more than %s", after, before)
	}
}

// B010: a lease without an end, an owner or matching arrays can't be stored.
func TestSchema_B010_ImpossibleLeasesAreRefused(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 2)
	g.mustClaim(t, askFor(2))
	for _, set := range []string{
		"lease_until = NULL", "attempt_id = NULL", "claimed_by = NULL", "entry_ids = '{}'", "entry_ids = NULL", "entry_ids = entry_ids || 5::bigint",
		"revisions = '{1}'", "attempts = ARRAY[1, NULL]::smallint[]", "entry_ids = ARRAY[1, NULL]::bigint[]", "lease_seconds = 0",
	} {
		if _, err := g.other.Exec(t.Context(), "UPDATE lease SET "+set); err == nil {
			t.Errorf("%s was stored", set)
		}
	}
}

// Race 4: a ticket whose entry is gone enters no lease and disappears.
func TestRace_L2_TicketWithoutEntryDisappears(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 2)
	g.exec(t, "INSERT INTO ticket (organism_id, pipeline_version, entry_id) SELECT organism_id, 1, 999999 FROM entry LIMIT 1")
	if diff := cmp.Diff(versions, names(g.mustClaim(t, askFor(10)))); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	if n := g.ask(t, "SELECT count(*) FROM ticket"); n != 0 {
		t.Errorf("%d tickets are left", n)
	}
	if n := g.ask(t, "SELECT cardinality(entry_ids) FROM lease"); n != 2 {
		t.Errorf("the lease has %d entries, want 2", n)
	}
}

// Race 7: a claim whose connection breaks is given back, uncounted, and made anew.
func TestRace_L8_ClaimWithAnUnknownCommitIsMadeAnew(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := submitN(t, g.Store, g.group.GroupID, 3)
	g.stopAt(t, "BEFORE DELETE ON ticket")
	c := askFor(3)
	var lease queue.Lease
	done := later(func() (err error) {
		lease, err = g.Claim(context.Background(), c)
		return err
	})
	g.awaitStopped(t, 1)
	g.exec(t, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")
	g.goOn(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(versions, names(lease)); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	if lease.AttemptID == c.AttemptID || lease.Entries[0].Attempt != 1 {
		t.Errorf("got attempt id %s in attempt %d, want another than %s in attempt 1", lease.AttemptID, lease.Entries[0].Attempt, c.AttemptID)
	}
	if n := g.ask(t, "SELECT count(*) FROM lease"); n != 1 {
		t.Errorf("there are %d leases, want 1", n)
	}
	if _, err := g.AcceptResults(t.Context(), answer(lease, []byte("x"))); err != nil {
		t.Errorf("results of the claim: %v", err)
	}
}

// Race 9: an approval that waited for an edit tests the entry anew.
func TestRace_L10_ApprovalThatWaitedForAnEditReleasesNothing(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 1)
	g.stopAt(t, "BEFORE DELETE ON result")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	approved := later(func() error {
		list, err := g.Approve(context.Background(), submission.Approval{Organism: storetest.WestNile, Approver: "anna", Scope: seqlease.ApproveAll})
		if len(list) > 0 {
			err = errors.New("the edited entry was approved")
		}
		return err
	})
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-edited, <-approved); err != nil {
		t.Error(err)
	}
}

// only drops the answer of a submission.
func only(_ queue.Accepted, err error) error { return err }
