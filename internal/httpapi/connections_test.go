package httpapi_test

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// soon is within what nobody waits who waits for nobody, on a busy machine: who
// waits for a connection that is held is refused after 10 s.
const soon = 8 * time.Second

// openReleased asks for released data over a connection of its own, and reads ten
// bytes of the answer.
func (d *door) openReleased(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /zika/get-released-data HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestPostgres_L12_B040_SlowReadersHoldNoConnection has one connection to the
// database, and clients that stop within answers of many megabytes.
func TestPostgres_L12_B040_SlowReadersHoldNoConnection(t *testing.T) {
	t.Parallel()
	const large = 1 << 20
	d := newDoor(t, doorOptions{open: openPostgres(newPostgres(t), 1)})
	group := d.newGroup(t, anna)
	for range 3 {
		d.submit(t, group, 10, large)
	}
	// What was submitted is released at that length, too.
	lines := strings.ReplaceAll(resultsOf(d.claim(t, pipe, 8)), `"main":"acgt"`, `"main":"`+strings.Repeat("ACGT", large/4)+`"`)
	d.sendResults(t, lines).want(t, 204)
	d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
	if a := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200); len(a.body) < 8*large {
		t.Fatalf("%d bytes are released: sockets buffer all of it", len(a.body))
	}
	for range 2 {
		conn := d.openClaim(t, "numberOfSequenceEntries=8&pipelineVersion=1")
		defer func() { _ = conn.Close() }()
		if _, err := io.ReadFull(conn, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		defer func(conn net.Conn) { _ = conn.Close() }(d.openReleased(t))
	}
	began := time.Now()
	mine := d.claim(t, pipe2, 2)
	if took := time.Since(began); len(mine) != 2 || took > soon {
		t.Errorf("claimed %d entries after %s while others hardly read, want 2 within %s", len(mine), took, soon)
	}
	began = time.Now()
	d.post(t, "renew-lease", pipe2, ofAttempt(mine[0].AttemptID, "")).want(t, 200)
	d.statusCounts(t, "zika")
	d.post(t, "return-lease", pipe2, ofAttempt(mine[0].AttemptID, "")).want(t, 200)
	if took := time.Since(began); took > soon {
		t.Errorf("renewal, list and return took %s while others hardly read", took)
	}
}

// TestPostgres_B040_WaitingForAConnectionIsBounded has the only connection held by
// a claim that waits for a lock: who comes meanwhile is told to come back, and the
// server is alive all the time.
func TestPostgres_B040_WaitingForAConnectionIsBounded(t *testing.T) {
	t.Parallel()
	address := newPostgres(t)
	d := newDoor(t, doorOptions{open: openPostgres(address, 1)})
	d.submit(t, d.newGroup(t, anna), 3, 20)
	release := lockTickets(t, address)
	held := d.waiting(t, claimForm)
	eventually(t, "the claim waits for the lock", func() bool { return waitsForALock(t, address) })
	began := time.Now()
	busy := d.waiting(t, claimForm)
	d.call(t, "GET", "/healthz", "", nil).want(t, 200)
	if took := time.Since(began); took > soon {
		t.Errorf("/healthz took %s", took)
	}
	a := <-busy
	took := time.Since(began)
	if p := a.problem(t, 503); p.Type != "urn:seqlease:problem:busy" || took > 20*time.Second {
		t.Errorf("%s after %s, want busy after about 10 s", p.Type, took)
	}
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	release()
	if a := (<-held).want(t, 200); len(entriesOf(t, a.body)) != 3 {
		t.Errorf("the claim that waited for the lock got %s", a.body)
	}
}

// lockTickets holds a lock on the waiting entries until release is called.
func lockTickets(t *testing.T, address string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "LOCK TABLE ticket IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

// waitsForALock says whether any session of the database waits for one.
func waitsForALock(t *testing.T, address string) (waits bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	err = conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waits)
	if err != nil {
		t.Fatal(err)
	}
	return waits
}
