package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	backfill "github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/storetest"
)

// registerSecond registers version 2 of West Nile virus.
func registerSecond(ctx context.Context, g *stage) error {
	r, err := g.RegisterVersion(ctx, storetest.WestNile, 2, 1000)
	if err == nil && !r.Made {
		err = fmt.Errorf("%+v, want it made", r)
	}
	return err
}

// mustChunk makes a chunk of the backfill of version 2.
func (g *stage) mustChunk(t *testing.T) backfill.Chunk {
	t.Helper()
	chunk, err := g.Backfill(soon(t), storetest.WestNile, 2, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return chunk
}

// chunkLater makes a chunk and wants so many tickets.
func (g *stage) chunkLater(want int) func() error {
	return func() error {
		chunk, err := g.Backfill(context.Background(), storetest.WestNile, 2, 1000)
		if err == nil && chunk.Tickets != want {
			err = fmt.Errorf("%+v, want %d tickets", chunk, want)
		}
		return err
	}
}

// complete makes chunks until the backfill is complete, and returns their tickets.
func (g *stage) complete(t *testing.T) (tickets int) {
	t.Helper()
	for {
		chunk := g.mustChunk(t)
		if tickets += chunk.Tickets; chunk.Progress == backfill.Complete {
			return tickets
		}
	}
}

// stopWhen stops whoever writes a ticket of which a condition is true.
func (g *stage) stopWhen(t *testing.T, condition string) {
	t.Helper()
	g.exec(t, "CREATE TRIGGER stop BEFORE INSERT ON ticket FOR EACH ROW WHEN ("+condition+") EXECUTE FUNCTION stop_here()")
	g.exec(t, "SELECT pg_advisory_lock(1)")
}

// places is how often each entry is in a ticket or lease of version 2, as a table.
const places = `(SELECT entry_id FROM ticket WHERE pipeline_version = 2
	UNION ALL SELECT unnest(entry_ids) FROM lease WHERE pipeline_version = 2) AS place`

// Race 6: an upload that began before the version was registered, and doesn't write
// tickets for it, is not overlooked: until it has ended the backfill isn't complete.
func TestRace_V3_V4_L1_SubmissionAgainstRegistration(t *testing.T) {
	t.Parallel()
	t.Run("the upload has its ranks before the registration begins", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		submitN(t, g.Store, g.group.GroupID, 3)
		g.stopWhen(t, "NEW.pipeline_version = 1")
		submitted := later(func() error {
			_, err := g.Submit(context.Background(), smallUpload(g.Store, g.group.GroupID, 5))
			return err
		})
		g.awaitStopped(t, 1)
		if err := registerSecond(soon(t), g); err != nil {
			t.Fatal(err)
		}
		g.wantNotComplete(t, 3)
		g.goOn(t)
		if err := <-submitted; err != nil {
			t.Fatal(err)
		}
		g.wantAllInSecond(t, 5, 8)
	})
	t.Run("the upload begins while the registration is being committed", func(t *testing.T) {
		t.Parallel()
		g := newStage(t)
		g.exec(t, `CREATE FUNCTION stop_there() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_advisory_xact_lock(2); RETURN NEW; END $$`)
		submitN(t, g.Store, g.group.GroupID, 3)
		g.exec(t, "CREATE TRIGGER stop_there BEFORE INSERT ON backfill FOR EACH ROW EXECUTE FUNCTION stop_there()")
		g.exec(t, "SELECT pg_advisory_lock(2)")
		registered := later(func() error { return registerSecond(context.Background(), g) })
		g.awaitStopped(t, 1)
		g.stopWhen(t, "NEW.pipeline_version = 1")
		submitted := later(func() error { // its transaction id is above that of the registration
			_, err := g.Submit(context.Background(), smallUpload(g.Store, g.group.GroupID, 5))
			return err
		})
		g.awaitStopped(t, 2)
		g.exec(t, "SELECT pg_advisory_unlock(2)")
		if err := <-registered; err != nil {
			t.Fatal(err)
		}
		g.wantNotComplete(t, 3)
		g.goOn(t)
		if err := <-submitted; err != nil {
			t.Fatal(err)
		}
		g.wantAllInSecond(t, 5, 8)
	})
}

// wantNotComplete makes more chunks than there is anything for: they add so many
// tickets, and the backfill goes on waiting.
func (g *stage) wantNotComplete(t *testing.T, want int) {
	t.Helper()
	tickets := 0
	for range 6 {
		chunk := g.mustChunk(t)
		if tickets += chunk.Tickets; chunk.Progress == backfill.Complete {
			t.Fatal("the backfill is complete while an upload that doesn't see the version is under way")
		}
	}
	if tickets != want || g.mustChunk(t).Progress != backfill.Waiting {
		t.Errorf("%d tickets, want %d, and then it waits", tickets, want)
	}
}

func (g *stage) wantAllInSecond(t *testing.T, added, all int) {
	t.Helper()
	if n := g.complete(t); n != added {
		t.Errorf("%d tickets were added, want %d", n, added)
	}
	if lease := g.mustClaim(t, askSecond(100)); len(lease.Entries) != all {
		t.Errorf("claimed %d entries, want %d", len(lease.Entries), all)
	}
	if n, _, err := g.Reconcile(t.Context(), 0, 1000); err != nil || n != 0 {
		t.Errorf("the reconciler added %d tickets, %v", n, err)
	}
}

// A transaction that stays open doesn't make those wait for hours who committed
// meanwhile: the next pass comes some minutes later.
func TestRace_V4_AnOpenTransactionDoesNotEndTheSearchForGaps(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.stopWhen(t, "NEW.pipeline_version = 1")
	submitted := later(func() error {
		_, err := g.Submit(context.Background(), smallUpload(g.Store, g.group.GroupID, 5))
		return err
	})
	g.awaitStopped(t, 1)
	hanging := connect(t, g.address)
	run(t, hanging, "BEGIN", "SELECT pg_current_xact_id()")
	if err := registerSecond(soon(t), g); err != nil {
		t.Fatal(err)
	}
	g.wantNotComplete(t, 0)
	g.goOn(t)
	if err := <-submitted; err != nil {
		t.Fatal(err)
	}
	g.wantNotComplete(t, 0)
	g.exec(t, "UPDATE backfill SET passed_at = passed_at - interval '6 minutes'")
	g.wantNotComplete(t, 5)
	run(t, hanging, "ROLLBACK")
	if n := g.complete(t); n != 0 {
		t.Errorf("%d tickets were added when the transaction had ended, want none", n)
	}
}

// Race 3 and L2: an edit whose entry was in no queue when it looked, and got a
// ticket and a lease of the newer version before the edit wrote its own tickets.
func TestRace_L10_V3_EditAgainstBackfillAndClaim(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	if err := registerSecond(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	g.stopWhen(t, "NEW.pipeline_version = 2 AND NEW.lane = 0")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	if chunk := g.mustChunk(t); chunk.Tickets != 2 {
		t.Fatalf("%+v, want two tickets", chunk)
	}
	lease := g.mustClaim(t, askSecond(2))
	if len(lease.Entries) != 2 {
		t.Fatalf("claimed %v, want both", names(lease))
	}
	g.goOn(t)
	if err := <-edited; err != nil {
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{places: 2, "ticket WHERE pipeline_version = 2 AND lane = 0": 1})
	refused := answerSecond(lease)
	refused.Lines = refused.Lines[:1]
	wantReasons(t, only(g.AcceptResults(t.Context(), refused)), seqlease.RefusedEdited)
	if n := g.complete(t); n != 0 {
		t.Errorf("%d more tickets were added", n)
	}
	if again := g.mustClaim(t, askSecond(9)); len(again.Entries) != 1 || again.Entries[0].AccessionVersion != versions[0] {
		t.Errorf("claimed %v, want the edited entry", names(again))
	}
}

// L2: a chunk that found an entry nowhere writes its ticket after the entry was
// edited and claimed, and processed, too, or deleted.
func TestRace_L2_V3_BackfillAgainstEditAndClaim(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 4)
	if err := registerSecond(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	g.stopWhen(t, "NEW.lane = 1")
	filled := later(g.chunkLater(2)) // of the deleted one, too
	g.awaitStopped(t, 1)
	var leases [2]queue.Lease
	for i := range leases {
		if err := g.editLater(versions[i])(); err != nil {
			t.Fatal(err)
		}
		if leases[i] = g.mustClaim(t, askSecond(9)); len(leases[i].Entries) != 1 {
			t.Fatalf("claimed %v, want the edited entry", names(leases[i]))
		}
	}
	if _, err := g.AcceptResults(t.Context(), answerSecond(leases[0])); err != nil {
		t.Fatal(err)
	}
	if err := remove(soon(t), g.Store, versions[2:3]); err != nil {
		t.Fatal(err)
	}
	g.goOn(t)
	if err := <-filled; err != nil {
		t.Fatal(err)
	}
	if n := g.complete(t); n != 0 {
		t.Errorf("%d more tickets were added", n)
	}
	rest := g.mustClaim(t, askSecond(9))
	if len(rest.Entries) != 1 || rest.Entries[0].AccessionVersion != versions[3] {
		t.Errorf("claimed %v, want the one that nobody touched", names(rest))
	}
	g.wantCounts(t, map[string]int64{places: 2, "result WHERE pipeline_version = 2": 1})
	if _, err := g.AcceptResults(t.Context(), answerSecond(leases[1])); err != nil {
		t.Errorf("results of the edited entry: %v", err)
	}
}

// A chunk that found an entry nowhere comes to write its ticket after an edit did:
// it is made again, without it.
func TestRace_V3_L17_BackfillAgainstEdit(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 3)
	if err := registerSecond(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	g.stopWhen(t, "NEW.lane = 1")
	filled := later(g.chunkLater(2))
	g.awaitStopped(t, 1)
	if err := g.editLater(versions[1])(); err != nil {
		t.Fatal(err)
	}
	g.goOn(t)
	if err := <-filled; err != nil {
		t.Fatal(err)
	}
	if n := g.complete(t); n != 0 {
		t.Errorf("%d more tickets were added", n)
	}
	g.wantCounts(t, map[string]int64{places: 3, "ticket WHERE pipeline_version = 2 AND lane = 0": 1, "turn WHERE pipeline_version = 2 AND lane = 1 AND last_rank = 2": 1})
}

// An edit that didn't see the version, whose entry was processed by it at the old
// revision meanwhile: the entry waits in it when the backfill is complete.
func TestRace_V4_L10_EditThatDoesNotSeeTheVersion(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.stopWhen(t, "NEW.pipeline_version = 1")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	if err := registerSecond(soon(t), g); err != nil {
		t.Fatal(err)
	}
	g.wantNotComplete(t, 2)
	if _, err := g.AcceptResults(soon(t), answerSecond(g.mustClaim(t, askSecond(9)))); err != nil {
		t.Fatal(err)
	}
	g.goOn(t)
	if err := <-edited; err != nil {
		t.Fatal(err)
	}
	if n := g.complete(t); n != 1 {
		t.Errorf("%d tickets were added, want that of the edited entry", n)
	}
	if lease := g.mustClaim(t, askSecond(9)); len(lease.Entries) != 1 || lease.Entries[0].AccessionVersion != versions[0] {
		t.Errorf("claimed %v, want the edited entry", names(lease))
	}
}

// Trap 10: while a chunk is held up nobody waits for it: neither who makes chunks
// nor who does anything else, with whatever version.
func TestBackfill_V3_L13_AHeldChunkMakesNobodyWait(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 12)
	if err := registerSecond(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if chunk, err := g.Backfill(t.Context(), storetest.WestNile, 2, 6); err != nil || chunk.Tickets != 6 {
		t.Fatalf("%+v, %v, want six tickets", chunk, err)
	}
	g.stopWhen(t, "NEW.lane = 1 AND NEW.rank >= 7 AND NEW.pipeline_version = 2")
	filled := later(g.chunkLater(6))
	g.awaitStopped(t, 1)
	if chunk := g.mustChunk(t); chunk != (backfill.Chunk{Progress: backfill.Busy}) {
		t.Errorf("got %+v while another makes the chunk, want busy", chunk)
	}
	if lease := g.mustClaim(t, askSecond(3)); len(lease.Entries) != 3 {
		t.Errorf("claimed %d entries of the version, want 3", len(lease.Entries))
	}
	if err := registerSecondAgain(soon(t), g); err != nil {
		t.Error(err)
	}
	if err := everybodyWorks(soon(t), g, versions[4:6]); err != nil {
		t.Errorf("while the chunk is held: %v", err)
	}
	g.goOn(t)
	if err := <-filled; err != nil {
		t.Error(err)
	}
	g.complete(t)
}

func registerSecondAgain(ctx context.Context, g *stage) error {
	r, err := g.RegisterVersion(ctx, storetest.WestNile, 2, 1000)
	if err == nil && (r.Made || !r.Allowed) {
		err = fmt.Errorf("%+v, want it there already", r)
	}
	return err
}

// A database that was restored on another server counts its transactions from
// less: the backfill ends all the same.
func TestBackfill_V3_RestoredDatabase(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	submitN(t, g.Store, g.group.GroupID, 3)
	if err := registerSecond(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	g.exec(t, "UPDATE backfill SET horizon = '9000000000000'::xid8")
	if n := g.complete(t); n != 3 {
		t.Errorf("%d tickets were added, want 3", n)
	}
}
