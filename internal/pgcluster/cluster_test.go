package pgcluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/pgcluster"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, err := pgcluster.Start(ctx, pgcluster.Options{Durable: true, Settings: []string{"work_mem=5MB"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 { // the second call must do nothing
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	first, second := newDatabase(t, c), newDatabase(t, c)
	if first == second {
		t.Fatalf("two databases have one address %s", first)
	}
	exec(t, first, "CREATE TABLE kept (n int)")
	exec(t, second, "CREATE TABLE kept (n int)") // fails if it is the same database
	if err := c.Kill(ctx); errors.Is(err, pgcluster.ErrNotOurs) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	exec(t, first, "INSERT INTO kept VALUES (1)")
	connection, err := pgx.Connect(ctx, first)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(t, connection)
	for setting, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "work_mem": "5MB"} {
		var got string
		if err := connection.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", setting, got, err, want)
		}
	}
}

// TestCluster_Outages: what was committed is there after every kind of end, a
// frozen server answers nobody, and its clock is as wrong as it was told to be.
func TestCluster_Outages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if _, err := pgcluster.ClockLibrary(); err != nil {
		t.Fatal(err)
	}
	c, err := pgcluster.Start(ctx, pgcluster.Options{Durable: true, Clock: -6 * time.Hour})
	if errors.Is(err, pgcluster.ErrNotOurs) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	database := newDatabase(t, c)
	exec(t, database, "CREATE TABLE kept (n int)")
	wantOffset(t, database, -6*time.Hour)
	for _, end := range []func() (pgcluster.Outage, error){c.Kill9, c.Crash, c.ShutDown} {
		exec(t, database, "INSERT INTO kept VALUES (1)")
		outage, err := end()
		if err != nil {
			t.Fatal(err)
		}
		if connection, err := pgx.Connect(ctx, database); err == nil {
			disconnect(t, connection)
			t.Error("the server answers in its outage")
		}
		if err := outage.EndWithClock(ctx, 6*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	wantOffset(t, database, 6*time.Hour)
	if err := c.Freeze(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if connection, err := pgx.Connect(short, database); err == nil {
		disconnect(t, connection)
		t.Error("a frozen server answers")
	}
	if err := c.Thaw(); err != nil {
		t.Fatal(err)
	}
	connection, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(t, connection)
	var n int
	if err := connection.QueryRow(ctx, "SELECT count(*) FROM kept").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows, %v, want the 3 that were committed", n, err)
	}
}

func wantOffset(t *testing.T, address string, want time.Duration) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(t, connection)
	var at time.Time
	if err := connection.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&at); err != nil {
		t.Fatal(err)
	}
	if off := time.Until(at) - want; off.Abs() > time.Minute {
		t.Errorf("the server's clock is wrong by %s, want %s", time.Until(at), want)
	}
}

func newDatabase(t *testing.T, c *pgcluster.Cluster) string {
	t.Helper()
	address, err := c.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func exec(t *testing.T, address, statement string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(t, connection)
	if _, err := connection.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func disconnect(t *testing.T, connection *pgx.Conn) {
	t.Helper()
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
