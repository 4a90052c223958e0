package postgres_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/storetest"
)

var toSecond = reprocess.Candidate{Organism: storetest.WestNile, Current: 1, Version: 2}

// ready has entries processed without errors by both versions.
func (g *stage) ready(t *testing.T, n int) []seqlease.AccessionVersion {
	t.Helper()
	versions := g.processed(t, n)
	g.secondVersion(t)
	for {
		chunk, err := g.Backfill(t.Context(), storetest.WestNile, 2, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Progress == reprocess.Complete {
			break
		}
	}
	if lease := g.mustClaim(t, askSecond(n)); len(lease.Entries) > 0 {
		if err := only(g.AcceptResults(t.Context(), answerSecond(lease))); err != nil {
			t.Fatal(err)
		}
	}
	return versions
}

// await asks until the condition holds.
func (g *stage) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // other tests' transactions count, too
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func (g *stage) switchLater() (<-chan error, *bool) {
	switched := new(bool)
	return later(func() (err error) {
		*switched, err = g.Switch(context.Background(), toSecond)
		return err
	}), switched
}

// TestSwitch_V5_SeesTheResultThatItWaitedFor: a result with errors that is being stored
// when all entries are looked at is judged before the switch, not after it.
func TestSwitch_V5_SeesTheResultThatItWaitedFor(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.ready(t, 2)
	rival := connect(t, g.address)
	run(t, rival, "BEGIN", "UPDATE result SET outcome = 2 WHERE pipeline_version = 2 AND entry_id = (SELECT id FROM entry WHERE accession = '"+string(versions[0].Accession)+"')")
	done, switched := g.switchLater()
	g.awaitStopped(t, 1)
	run(t, rival, "COMMIT")
	if err := <-done; err != nil || *switched {
		t.Errorf("switched %t, %v: want that the entry with errors blocks it", *switched, err)
	}
}

// TestSwitch_V5_GivesUpSoon: whoever stores results queues behind a switch that waits, so
// it doesn't wait for a transaction that stays open. Claims don't queue.
func TestSwitch_V5_GivesUpSoon(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.ready(t, 2)
	submitN(t, g.Store, g.group.GroupID, 1)
	rival := connect(t, g.address)
	run(t, rival, "BEGIN", "LOCK TABLE result IN ROW EXCLUSIVE MODE")
	done, _ := g.switchLater()
	g.awaitStopped(t, 1)
	if lease := g.mustClaim(t, askFor(1)); len(lease.Entries) != 1 {
		t.Errorf("a claim beside it got %d entries, want 1", len(lease.Entries))
	}
	if err := <-done; !errors.Is(err, seqlease.ErrBusy) {
		t.Errorf("got %v, want %v", err, seqlease.ErrBusy)
	}
	run(t, rival, "COMMIT")
	if switched, err := g.Switch(t.Context(), toSecond); err != nil || !switched {
		t.Errorf("switched %t, %v, when nobody holds it up", switched, err)
	}
}

// TestSwitch_V7_RetiresWhenEverybodyHasSeenIt: who began before the switch may still give
// tickets to the old version.
func TestSwitch_V7_RetiresWhenEverybodyHasSeenIt(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.ready(t, 1)
	rival := connect(t, g.address)
	run(t, rival, "BEGIN", "SELECT pg_current_xact_id()")
	if switched, err := g.Switch(t.Context(), toSecond); err != nil || !switched {
		t.Fatalf("switched %t, %v", switched, err)
	}
	if list, err := g.Outdated(t.Context(), 1); err != nil || len(list) != 0 {
		t.Errorf("outdated beside a transaction that began before: %v, %v, want none yet", list, err)
	}
	run(t, rival, "COMMIT")
	g.await(t, "the old version is outdated", func() bool {
		list, err := g.Outdated(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 1
	})
}

// TestRetire_V7_WaitsForTheResultThatIsBeingStored: the version isn't forgotten while a
// lease of it is locked, so that no result outlives it.
func TestRetire_V7_WaitsForTheResultThatIsBeingStored(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.ready(t, 1)
	if _, _, err := g.Reprocess(t.Context(), queue.Selection{Organism: storetest.WestNile, PipelineVersion: 1, Entries: versions}, 0, 10); err != nil {
		t.Fatal(err)
	}
	lease := g.mustClaim(t, askFor(1))
	if switched, err := g.Switch(t.Context(), toSecond); err != nil || !switched {
		t.Fatalf("switched %t, %v", switched, err)
	}
	rival := connect(t, g.address)
	run(t, rival, "BEGIN", "SELECT FROM lease FOR UPDATE")
	first := reprocess.Version{Organism: storetest.WestNile, PipelineVersion: 1}
	if chunk, err := g.Retire(t.Context(), first, 0, 10); err != nil || !chunk.Waiting {
		t.Errorf("retire beside a locked lease: %+v, %v, want that it waits", chunk, err)
	}
	run(t, rival, "COMMIT")
	if err := only(g.AcceptResults(t.Context(), answer(lease, []byte("late")))); err != nil {
		t.Fatal(err)
	}
	g.await(t, "the version is gone", func() bool {
		chunk, err := g.Retire(t.Context(), first, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return chunk.Gone
	})
	if n := g.ask(t, "SELECT count(*) FROM result WHERE pipeline_version = 1"); n != 0 {
		t.Errorf("%d results of the old version are left", n)
	}
}

// TestSwitch_V5_OtherOrganismsBetween: of an organism whose entries lie far apart among
// those of another one, a look reads no more than of one whose entries lie together.
func TestSwitch_V5_OtherOrganismsBetween(t *testing.T) {
	t.Parallel()
	const few, many, limit = 20, 5000, 50
	g := newStage(t)
	g.ready(t, few)
	g.exec(t, "UPDATE entry SET id = id * 1000000")
	g.exec(t, "UPDATE result SET entry_id = entry_id * 1000000")
	g.exec(t, `INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision, claimed_by_sum, outcome, digest, body)
		SELECT 2, n * 1000 + 7, attempt_id, dictionary_id, processed_at, 1, 1, 0, 0, digest, body
		FROM (SELECT * FROM result LIMIT 1) AS r, generate_series(1, `+strconv.Itoa(many)+`) AS n`)
	g.exec(t, "DELETE FROM result WHERE pipeline_version = 2 AND organism_id = 2 AND entry_id = (SELECT max(entry_id) FROM result WHERE organism_id = 2)")
	kept := g.keep(t, postgres.PlanSettingsSQL, postgres.FindBlockerSQL, pgx.StrictNamedArgs{"organism": 2, "current": 1, "version": 2, "after": 0, "limit": limit})
	var most float64
	kept(t).walk(func(p planNode) {
		if p.Relation == "result" {
			most = max(most, p.Rows*p.Loops)
		}
	})
	if most > limit+1 {
		t.Errorf("a look for at most %d results read %.0f", limit, most)
	}
	look, err := g.FindBlocker(t.Context(), toSecond, 0, limit)
	if err != nil || look.Blocker == 0 || look.Blocker != g.ask(t, "SELECT max(entry_id) FROM result WHERE pipeline_version = 1") {
		t.Errorf("found %+v, %v, want the last entry", look, err)
	}
}

// TestSwitch_V5_DoesNotWaitForAnApproval: results wait for the switch meanwhile.
func TestSwitch_V5_DoesNotWaitForAnApproval(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.ready(t, 1)
	rival := connect(t, g.address)
	for _, held := range []string{"SELECT FROM organism FOR SHARE", "SELECT FROM pipeline_version FOR UPDATE"} {
		run(t, rival, "BEGIN", held)
		if _, err := g.Switch(t.Context(), toSecond); !errors.Is(err, seqlease.ErrBusy) {
			t.Errorf("beside %s: %v, want %v", held, err, seqlease.ErrBusy)
		}
		run(t, rival, "COMMIT")
	}
	if switched, err := g.Switch(t.Context(), toSecond); err != nil || !switched {
		t.Errorf("switched %t, %v, when nobody holds it up", switched, err)
	}
}
