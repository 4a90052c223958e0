package postgres_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/storetest"
	"github.com/seqlease/seqlease/internal/submission"
)

// A claim that found nothing fresh while another one looks at all rounds has that one's
// answer only if it began later: what was added in between isn't hidden.
func TestClaim_L14_SharedLookThatBeganBeforeIsNotBelieved(t *testing.T) {
	t.Parallel()
	g := newCrowd(t, 0)
	organismID, _, _ := g.Bound(storetest.WestNile, 1, queue.LaneFresh)
	end := g.LeadLook(organismID, 1)
	var sent statements
	if err := g.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	var lease queue.Lease
	done := later(func() (err error) {
		lease, err = g.Claim(t.Context(), askFor(1))
		return err
	})
	var names []string
	g.await(t, "the claim to find nothing fresh", func() bool {
		names = append(names, statementNames(sent.take())...)
		return slices.Contains(names, "claim_fresh")
	})
	another, err := postgres.Open(t.Context(), postgres.Options{Address: g.address})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := another.Close(); err != nil {
			t.Error(err)
		}
	}()
	submitN(t, another, register(t, another).GroupID, 1)
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(lease.Entries) != 1 {
		t.Errorf("claimed %d entries, want the one that another server stored", len(lease.Entries))
	}
}

// Idle workers ask all the time whether anything has changed: who asks while somebody is
// asking goes with the others, in one statement that begins later.
func TestClaim_L14_IdleClaimsAskTogether(t *testing.T) {
	t.Parallel()
	g := newStageOf(t, newHarness("", postgres.Options{}))
	if _, err := g.Claim(t.Context(), askFor(0)); err != nil { // so that the organism is known
		t.Fatal(err)
	}
	var sent statements
	if err := g.Trace(t.Context(), &sent); err != nil {
		t.Fatal(err)
	}
	g.exec(t, "BEGIN")
	g.exec(t, "LOCK TABLE change")
	const idle = 6
	var calls errgroup.Group
	for i := range idle {
		calls.Go(func() error {
			lease, err := g.Claim(t.Context(), askFor(0))
			if err == nil && lease.Mark == "" {
				return errors.New("no mark")
			}
			return err
		})
		g.await(t, "the claim to wait", func() bool { return g.WaitingGlances() == i })
		if i == 0 {
			g.awaitStopped(t, 1)
		}
	}
	g.exec(t, "COMMIT")
	if err := calls.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := statementNames(sent.take()); !slices.Equal(got, []string{"peek_queue", "peek_queue"}) {
		t.Errorf("statements %v, want one of the first and one of all others", got)
	}
}

// What fails in the trip of the commit undoes all that came before it.
func TestClosing_L10_FailureAtTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	av := g.processed(t, 1)[0]
	g.exec(t, "CREATE FUNCTION fail_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not noted'; END $$")
	g.exec(t, "CREATE TRIGGER fail BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION fail_here()")
	edit := submission.Edit{Organism: storetest.WestNile, AccessionVersion: av, Data: []byte(`{"metadata":{}}`)}
	if err := g.Edit(t.Context(), edit); err == nil {
		t.Error("edited, though it could not be noted")
	}
	g.wantCounts(t, map[string]int64{"result": 1, "ticket": 0})
	if revision := g.ask(t, "SELECT revision FROM entry"); revision != 1 {
		t.Errorf("revision %d, want 1", revision)
	}
	g.exec(t, "DROP TRIGGER fail ON audit")
	if err := g.Edit(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	g.wantCounts(t, map[string]int64{"result": 0, "ticket": 1})
}

// trips counts what is waited for, however many statements it has. Copies aren't seen.
type trips struct{ atomic.Int64 }

func (n *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	n.Add(1)
	return ctx
}

func (n *trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (n *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	n.Add(1)
	return ctx
}

func (n *trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (n *trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A change waits for the database a few times only: beside many workers each time is a
// wait for a turn at the processors.
func TestStatements_V3_ChangesTakeFewTrips(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	var waited trips
	if err := g.Trace(t.Context(), &waited); err != nil {
		t.Fatal(err)
	}
	edit := func(av seqlease.AccessionVersion) error {
		return g.Edit(t.Context(), submission.Edit{Organism: storetest.WestNile, AccessionVersion: av, Data: []byte(`{"metadata":{}}`)})
	}
	for _, c := range []struct {
		name string
		do   func() error
		want int64
	}{
		{"an edit", func() error { return edit(versions[0]) }, 5},
		{"a submission", func() error { submitN(t, g.Store, g.group.GroupID, 1); return nil }, 5}, // and two copies
		{"an approval", func() error {
			_, err := g.Approve(t.Context(), submission.Approval{Organism: storetest.WestNile, Entries: versions[1:], Approver: "anna"})
			return err
		}, 5},
	} {
		waited.Store(0)
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := waited.Load(); got != c.want {
			t.Errorf("%s waits %d times, want %d", c.name, got, c.want)
		}
	}
}
