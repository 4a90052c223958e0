package pgcluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/pgcluster"
)

func TestNewDatabaseAs_CopiesWhatWasPreparedOnce(t *testing.T) {
	t.Parallel()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	broken := errors.New("not today")
	if _, err := c.NewDatabaseAs(t.Context(), "fern", func(context.Context, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want what prepare says", err)
	}
	prepared := 0
	prepare := func(_ context.Context, address string) error {
		prepared++
		exec(t, address, "CREATE TABLE kept (n int)")
		return nil
	}
	seen := map[string]bool{}
	for range 3 {
		address, err := c.NewDatabaseAs(t.Context(), "fern", prepare)
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Errorf("%s is given out twice", address)
		}
		seen[address] = true
		if n := countKept(t, address); n != 0 {
			t.Errorf("%d rows of others in %s", n, address)
		}
		exec(t, address, "INSERT INTO kept VALUES (1)")
	}
	if prepared != 1 {
		t.Errorf("prepared %d times, want once", prepared)
	}
}

func countKept(t *testing.T, address string) (n int) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(t, connection)
	if err := connection.QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
