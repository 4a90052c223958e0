package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/postgres"
)

// run runs statements on a connection one after another.
func run(t *testing.T, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// An edit holds the entry and wants its result, while somebody holds the result
// and wants the entry. The server gives up the edit, and it is done once more.
func TestRetry_DeadlockIsRepeated(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	versions := g.processed(t, 2)
	g.secondVersion(t)
	rival := connect(t, g.address)
	// The edit must be the one that notices: the rival never looks.
	run(t, rival, "SET deadlock_timeout = '1h'", "BEGIN", "SELECT FROM result FOR UPDATE")
	g.stopAt(t, "BEFORE DELETE ON ticket") // the entry is locked, the result not yet
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	crossed := later(func() error {
		if _, err := rival.Exec(context.Background(), "SELECT FROM entry FOR UPDATE"); err != nil {
			return err
		}
		_, err := rival.Exec(context.Background(), "COMMIT")
		return err
	})
	g.awaitStopped(t, 2)
	if n := g.Repetitions(); n != 0 {
		t.Errorf("%d repetitions before the deadlock", n)
	}
	g.goOn(t)
	if err := <-crossed; err != nil {
		t.Errorf("the rival: %v", err)
	}
	if err := <-edited; err != nil {
		t.Errorf("the edit: %v", err)
	}
	// Who gets the entry first after that is open, so they may cross once more.
	if n := g.Repetitions(); n < 1 {
		t.Errorf("%d repetitions, want at least 1", n)
	}
	g.wantEdited(t, 0)
}

// In a database whose transactions are REPEATABLE READ by default, an edit that
// waited for another change of the entry can't go on with its old snapshot.
func TestRetry_SerializationFailureIsRepeated(t *testing.T) {
	t.Parallel()
	g := newStageOf(t, newHarness("&default_transaction_isolation=repeatable%20read", postgres.Options{}))
	versions := g.processed(t, 2)
	g.secondVersion(t)
	rival := connect(t, g.address)
	run(t, rival, "BEGIN", "UPDATE entry SET submitter = 'ben'")
	edited := later(g.editLater(versions[0]))
	g.awaitStopped(t, 1)
	run(t, rival, "COMMIT")
	if err := <-edited; err != nil {
		t.Errorf("the edit: %v", err)
	}
	if n := g.Repetitions(); n != 1 {
		t.Errorf("%d repetitions, want 1", n)
	}
	if n := g.ask(t, "SELECT count(*) FROM entry WHERE submitter = 'ben'"); n != 2 {
		t.Errorf("%d entries have the other change, want 2", n)
	}
	g.wantEdited(t, 0)
}
