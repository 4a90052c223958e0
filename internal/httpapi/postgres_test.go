package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
)

// cluster is the PostgreSQL server of this package's tests, each of which has a
// database of its own on it. It starts with the first test that needs it.
var cluster struct {
	start  sync.Once
	server *pgcluster.Cluster
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if cluster.server != nil {
		if err := cluster.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// newPostgres makes a database with the current schema and returns its address.
func newPostgres(t *testing.T) string {
	t.Helper()
	cluster.start.Do(func() {
		// It outlives the test that happens to come first.
		cluster.server, cluster.err = pgcluster.Start(context.Background(), pgcluster.Options{})
	})
	if cluster.err != nil {
		t.Fatal(cluster.err)
	}
	address, err := cluster.server.NewDatabaseAs(t.Context(), "", postgres.Migrate)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// openPostgres is for doorOptions.open.
func openPostgres(address string, connections int) func(*testing.T, *queue.Bell) (database, string) {
	return func(t *testing.T, bell *queue.Bell) (database, string) {
		t.Helper()
		s, err := postgres.Open(t.Context(), postgres.Options{Address: address, MaxConnections: connections, Bell: bell})
		if err != nil {
			t.Fatal(err)
		}
		return s, address
	}
}

// TestPostgres_L8_UndeliveredIsGivenBack has clients that leave at the start of and
// within the body: the entries are claimable again, and the claim didn't count.
func TestPostgres_L8_UndeliveredIsGivenBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{open: openPostgres(newPostgres(t), 0)})
	d.submit(t, d.newGroup(t, anna), 6, 1<<20)  // more than sockets buffer
	for _, read := range []int64{10, 1 << 20} { // both only come once the claim is made
		conn := d.openClaim(t, claimForm)
		if _, err := io.CopyN(io.Discard, conn, read); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		d.allWaitAgain(t, 6)
	}
	d.wantGivenBackUncounted(t, 6)
}

// TestPostgres_L15_DamagedResultCutsTheStream spoils the last of many results:
// what was sent before it must not look whole, nor hold anything but records.
func TestPostgres_L15_DamagedResultCutsTheStream(t *testing.T) {
	t.Parallel()
	const entries = 2000 // so many that the answer has begun before the last one
	address := newPostgres(t)
	d := newDoor(t, doorOptions{open: openPostgres(address, 0)})
	d.submit(t, d.newGroup(t, anna), entries, 20)
	d.sendResults(t, resultsOf(d.claim(t, pipe, entries))).want(t, 204)
	d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
	const released = "/zika/get-released-data"
	if a := d.call(t, "GET", released, "", nil).want(t, 200); bytes.Count(a.body, []byte("\n")) != entries {
		t.Fatalf("%d lines before the damage, want %d", bytes.Count(a.body, []byte("\n")), entries)
	}
	damageLastResult(t, address)
	for _, query := range []string{"", "?compression=zstd"} {
		a, err := d.try(t, "GET", released+query, "", nil)
		if err == nil {
			t.Errorf("%s: the body of %d bytes looks whole, with status %d", query, len(a.body), a.StatusCode)
			continue
		}
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, want 200, as the answer had begun", query, a.StatusCode)
		}
		if query != "" {
			continue
		}
		var lines int
		for line := range bytes.Lines(a.body) {
			lines++
			if !bytes.HasPrefix(line, []byte(`{"metadata":`)) {
				t.Errorf("%.100q is no record", line)
			}
		}
		if lines == 0 || lines >= entries {
			t.Errorf("%d lines came, want some and fewer than %d", lines, entries)
		}
	}
}

// damageLastResult spoils the result that is read last.
func damageLastResult(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	tag, err := conn.Exec(t.Context(), "UPDATE result SET body = substring(body FOR octet_length(body) / 2) "+
		"WHERE entry_id = (SELECT id FROM entry ORDER BY accession DESC LIMIT 1)")
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("damaged %d results, %v, want 1", tag.RowsAffected(), err)
	}
}
