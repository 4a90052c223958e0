package pgcluster_test

import (
	"errors"
	"testing"

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
