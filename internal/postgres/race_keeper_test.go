package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// spent makes every ticket of version 2 a spent one and returns verdicts on them.
func (g *stage) spent(t *testing.T) []queue.Verdict {
	t.Helper()
	g.exec(t, "UPDATE ticket SET lane = 4, attempts = 5, hand_outs = 5 WHERE pipeline_version = 2")
	tickets, err := g.Spent(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := g.Pack(storetest.WestNile, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := make([]queue.Verdict, len(tickets))
	for i, ticket := range tickets {
		verdicts[i] = queue.Verdict{SpentTicket: ticket, Reason: "used up", Result: queue.PackedResult{Packed: packed}}
	}
	return verdicts
}

// quarantineLater returns a call that puts them in quarantine and wants that many to be.
func (g *stage) quarantineLater(verdicts []queue.Verdict, want int) func() error {
	return func() error {
		n, err := g.Quarantine(context.Background(), verdicts)
		if err == nil && n != want {
			err = fmt.Errorf("%d entries were quarantined, want %d", n, want)
		}
		return err
	}
}

// An edit and a quarantine of the same entry: after both it waits with its new
// data, whichever came first.
func TestRace_L9_L10_QuarantineAgainstEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		point       string
		editFirst   bool
		quarantined int
	}{
		"edit first":       {"BEFORE INSERT ON ticket", true, 0},
		"quarantine first": {"BEFORE INSERT ON quarantine", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			versions := g.processed(t, 1)
			g.secondVersion(t)
			verdicts := g.spent(t)
			if len(verdicts) != 1 {
				t.Fatalf("%d tickets are spent, want 1", len(verdicts))
			}
			first, second := g.editLater(versions[0]), g.quarantineLater(verdicts, c.quarantined)
			if !c.editFirst {
				first, second = second, first
			}
			g.stopAt(t, c.point)
			one := later(first)
			g.awaitStopped(t, 1)
			two := later(second)
			g.awaitStopped(t, 2)
			g.goOn(t)
			if err := errors.Join(<-one, <-two); err != nil {
				t.Error(err)
			}
			g.wantCounts(t, map[string]int64{"quarantine": 0, "result": 0, "ticket WHERE lane = 0 AND attempts = 0": 2, "ticket": 2, "entry WHERE revision = 2": 1})
		})
	}
}

// A keeper that read a spent ticket long ago doesn't undo a requeue.
func TestRace_L9_QuarantineAgainstRequeue(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.processed(t, 2)
	g.secondVersion(t)
	verdicts := g.spent(t)
	if err := g.quarantineLater(verdicts, 2)(); err != nil {
		t.Fatal(err)
	}
	g.stopAt(t, "BEFORE INSERT ON ticket")
	requeued := later(func() error {
		n, _, err := g.Requeue(context.Background(), queue.Selection{Organism: storetest.WestNile, All: true}, 0, 100)
		if err == nil && n != 2 {
			err = fmt.Errorf("%d entries were requeued, want 2", n)
		}
		return err
	})
	g.awaitStopped(t, 1)
	late := later(g.quarantineLater(verdicts, 0))
	g.awaitStopped(t, 2)
	g.goOn(t)
	if err := errors.Join(<-requeued, <-late); err != nil {
		t.Error(err)
	}
	g.wantCounts(t, map[string]int64{"quarantine": 0, "result WHERE pipeline_version = 2": 0, "ticket WHERE lane = 0 AND attempts = 0": 2})
}

// Reconciling beside a claim, a submission and another keeper: no entry gets a
// second place.
func TestRace_L1_V4_ReconcileAgainstOthers(t *testing.T) {
	t.Parallel()
	reconcile := func(ctx context.Context, g *stage, want int) func() error {
		return func() error {
			n, _, err := g.Reconcile(ctx, 0, 100)
			if err == nil && n != want {
				err = fmt.Errorf("%d tickets were added, want %d", n, want)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		point string
		begin func(t *testing.T, g *stage) func() error
		want  int
		waits bool
	}{
		"claim": {"BEFORE DELETE ON ticket", func(*testing.T, *stage) func() error { return nil }, 0, false},
		"accept": {"BEFORE INSERT ON result", func(t *testing.T, g *stage) func() error {
			t.Helper()
			s := answer(g.mustClaim(t, askFor(2)), []byte("x"))
			return func() error { return only(g.AcceptResults(context.Background(), s)) }
		}, 0, false},
		"takeover": {"BEFORE INSERT ON ticket", func(t *testing.T, g *stage) func() error {
			t.Helper()
			g.mustClaim(t, askFor(2))
			g.endLeases(t)
			return func() error { _, err := g.Claim(context.Background(), askFor(1)); return err }
		}, 0, false},
		"keeper": {"BEFORE INSERT ON ticket", func(t *testing.T, g *stage) func() error {
			t.Helper()
			g.exec(t, "DELETE FROM ticket")
			return reconcile(context.Background(), g, 2)
		}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newStage(t)
			submitN(t, g.Store, g.group.GroupID, 2)
			begin := c.begin(t, g)
			if begin == nil {
				begin = func() error { _, err := g.Claim(context.Background(), askFor(2)); return err }
			}
			g.stopAt(t, c.point)
			begun := later(begin)
			g.awaitStopped(t, 1)
			done := later(reconcile(soon(t), g, c.want))
			if c.waits {
				g.awaitStopped(t, 2)
				g.goOn(t)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if !c.waits {
				g.goOn(t)
			}
			if err := <-begun; err != nil {
				t.Error(err)
			}
			g.wantCounts(t, map[string]int64{
				"(SELECT entry_id FROM ticket UNION ALL SELECT unnest(entry_ids) FROM lease UNION ALL SELECT entry_id FROM result) AS place": 2,
			})
		})
	}
}

// L17: an upload that takes long keeps no other of its group waiting, and no turn
// is given twice.
func TestRace_L13_L17_TwoUploadsOfOneGroupReserveTheirRanks(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.exec(t, "CREATE TRIGGER stop BEFORE INSERT ON entry FOR EACH ROW WHEN (NEW.submitter = 'slow') EXECUTE FUNCTION stop_here()")
	g.exec(t, "SELECT pg_advisory_lock(1)")
	slow := smallUpload(g.Store, g.group.GroupID, 30)
	slow.Submitter = "slow"
	submit := func(ctx context.Context, u submission.Upload) error { _, err := g.Submit(ctx, u); return err }
	done := later(func() error { return submit(context.Background(), slow) })
	g.awaitStopped(t, 1)
	if err := submit(soon(t), smallUpload(g.Store, g.group.GroupID, 20)); err != nil {
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{"ticket WHERE rank BETWEEN 1 AND 20": 20})
	if lease := g.mustClaim(t, askFor(20)); len(lease.Entries) != 20 {
		t.Errorf("claimed %d entries beside the slow upload, want 20", len(lease.Entries))
	}
	g.goOn(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// What was committed late lies behind the bound and is found at once.
	if lease := g.mustClaim(t, askFor(30)); len(lease.Entries) != 30 {
		t.Errorf("claimed %d entries of the slow upload, want 30", len(lease.Entries))
	}
	submitN(t, g.Store, g.group.GroupID, 5)
	g.wantCounts(t, map[string]int64{"ticket WHERE rank BETWEEN 51 AND 55": 5})
}

// L17: turns of an upload that isn't committed count for nobody else: in an empty
// queue others begin where it began.
func TestRace_L17_TurnsCountFromTheCommitOn(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.exec(t, "CREATE TRIGGER stop BEFORE INSERT ON ticket FOR EACH ROW WHEN (NEW.rank = 30) EXECUTE FUNCTION stop_here()")
	g.exec(t, "SELECT pg_advisory_lock(1)")
	late := later(func() error {
		_, err := g.Submit(context.Background(), smallUpload(g.Store, g.group.GroupID, 30))
		return err
	})
	g.awaitStopped(t, 1)
	second, err := g.CreateGroup(t.Context(), seqlease.NewGroup{GroupName: "Other"}, "bert")
	if err != nil {
		t.Fatal(err)
	}
	submitN(t, g.Store, second.GroupID, 10)
	g.wantCounts(t, map[string]int64{"ticket WHERE rank BETWEEN 1 AND 10": 10})
	g.goOn(t)
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{"ticket WHERE rank BETWEEN 1 AND 10": 20, "ticket WHERE rank BETWEEN 11 AND 30": 20})
}
