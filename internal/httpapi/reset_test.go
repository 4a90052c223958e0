package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
)

// oldClient sends a request of HTTP/1.0, whose answer ends with the connection,
// and returns all that came and how it ended.
func (d *door) oldClient(t *testing.T, method, path, token string) ([]byte, error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n", method, path, token); err != nil {
		t.Fatal(err)
	}
	return io.ReadAll(conn)
}

// TestAbort_L15_OldClientsSeeAReset: without chunks, a body that is cut differs
// from a whole one only in how the connection ends.
func TestAbort_L15_OldClientsSeeAReset(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{pages: true}
	d := newDoor(t, doorOptions{wrap: func(s store) store { broken.store = s; return broken }})
	group := d.newGroup(t, anna)
	d.submit(t, group, 40, 20)
	d.sendResults(t, resultsOf(d.claim(t, pipe, 40))).want(t, 204)
	d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
	const released = "/zika/get-released-data"
	for _, query := range []string{"", "?compression=zstd"} {
		broken.afterReleased.Store(39)
		if got, err := d.oldClient(t, "GET", released+query, anna); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("released%s: the connection ends with %v after %d bytes, want a reset", query, err, len(got))
		}
		broken.afterReleased.Store(1000)
		if got, err := d.oldClient(t, "GET", released+query, anna); err != nil || !bytes.HasPrefix(got, []byte("HTTP/1.0 200")) {
			t.Errorf("released%s after the repair: %.20q and %v, want all of it and no error", query, got, err)
		}
	}
	d.submit(t, group, 1100, 20)
	claim := "/zika/extract-unprocessed-data?numberOfSequenceEntries=1100&pipelineVersion=1"
	if got, err := d.oldClient(t, "POST", claim, pipe); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("claim: the connection ends with %v after %d bytes, want a reset", err, len(got))
	}
	d.allWaitAgain(t, 1100)
}
