package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
)

// TestPostgres_B041_ReadOnlyDatabaseIsBusy: pipelines are told to come back, and
// whoever distributes requests learns that this server is of no use, until the
// database takes writes again.
func TestPostgres_B041_ReadOnlyDatabaseIsBusy(t *testing.T) {
	t.Parallel()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{}) // the setting is the whole server's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	address, err := c.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	d := newDoor(t, doorOptions{open: openPostgres(address, 2)})
	d.submit(t, d.newGroup(t, anna), 3, 20)
	takeWrites := func(setting string, ready int) {
		t.Helper()
		setReadOnly(t, address, setting)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ctx.Err() == nil && d.call(t, "GET", "/readyz", "", nil).StatusCode != ready {
		}
		if ctx.Err() != nil {
			t.Fatalf("/readyz never answers %d", ready)
		}
	}
	takeWrites("on", 503)
	a := d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", pipe, nil).want(t, 503)
	if a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "urn:seqlease:problem:busy") {
		t.Errorf("a claim is answered with Retry-After %q and %s", a.Header.Get("Retry-After"), a.body)
	}
	d.call(t, "GET", "/healthz", "", nil).want(t, 200)
	takeWrites("off", 200)
	if got := d.claim(t, pipe, 5); len(got) != 3 {
		t.Errorf("claimed %d entries, want the 3 that wait", len(got))
	}
}

// setReadOnly switches the server while its connections stay open.
func setReadOnly(t *testing.T, address, setting string) {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"SET default_transaction_read_only = off", "ALTER SYSTEM SET default_transaction_read_only = " + setting, "SELECT pg_reload_conf()",
	} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
