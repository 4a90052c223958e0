package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/submission"
)

const claimForm = "numberOfSequenceEntries=6&pipelineVersion=1"

// openClaim sends a claim over a connection of its own, which buffers little, and
// returns it before anything was read. Closing it resets it.
func (d *door) openClaim(t *testing.T, form string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	tcp := conn.(*net.TCPConn)
	if err := errors.Join(tcp.SetReadBuffer(64<<10), tcp.SetLinger(0)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST /zika/extract-unprocessed-data HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pipe\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func (d *door) allWaitAgain(t *testing.T, n int64) {
	t.Helper()
	eventually(t, "the undelivered entries wait again", func() bool { return d.statusCounts(t, "zika")[seqlease.Received] == n })
}

// TestClaim_L8_UndeliveredIsGivenBack has clients that leave in mid-body, over
// and over (B011): the entries are claimable again at once, and none of it counted.
func TestClaim_L8_UndeliveredIsGivenBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 6, 1<<20) // more than sockets buffer
	for i := range 20 {
		conn := d.openClaim(t, claimForm)
		switch i % 3 {
		case 1: // after the status line
			if _, err := conn.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
		case 2: // in mid-body
			if _, err := io.CopyN(io.Discard, conn, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		// A client that left at once may be noticed before or after the claim.
		eventually(t, "the server is done with the connection", func() bool {
			_, done := d.ended.Load(conn.LocalAddr().String())
			return done
		})
		d.allWaitAgain(t, 6)
	}
	d.wantGivenBackUncounted(t, 6)
}

// wantGivenBackUncounted claims n entries that came back undelivered: none of it
// counted, and what is delivered whole is not given back.
func (d *door) wantGivenBackUncounted(t *testing.T, n int) {
	t.Helper()
	entries := d.claim(t, pipe, n)
	if len(entries) != n {
		t.Fatalf("claimed %d entries, want %d", len(entries), n)
	}
	for _, e := range entries {
		if e.Attempt != 1 {
			t.Errorf("%s: attempt %d, want 1", e.AccessionVersion, e.Attempt)
		}
	}
	d.sendResults(t, resultsOf(entries)).want(t, 204)
	if !strings.Contains(d.log.String(), "undelivered claim given back") {
		t.Error("the log doesn't tell")
	}
}

// TestClaim_L8_StalledClientIsCut has a client that stops reading.
func TestClaim_L8_StalledClientIsCut(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{stall: 300 * time.Millisecond})
	d.submit(t, d.newGroup(t, anna), 6, 1<<20)
	conn := d.openClaim(t, claimForm)
	defer func() { _ = conn.Close() }()
	if _, err := conn.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	d.allWaitAgain(t, 6)
	// The client sees a cut body (L15).
	response, err := http.ReadResponse(bufio.NewReader(io.MultiReader(strings.NewReader("HTTP/1.1 2"), conn)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err == nil {
		t.Error("the cut body looks whole")
	}
}

// TestClaim_SlowAnswerOutlivesTheBodysDeadline has an answer that takes longer
// than a client may be silent within a body.
func TestClaim_SlowAnswerOutlivesTheBodysDeadline(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	d := newDoor(t, doorOptions{stall: stall, wrap: func(s store) store { return slowStore{s, 3 * stall} }})
	d.submit(t, d.newGroup(t, anna), 2, 20)
	if got := len(d.claim(t, pipe, 2)); got != 2 {
		t.Errorf("claimed %d entries, want 2", got)
	}
}

// slowStore takes its time to claim.
type slowStore struct {
	store
	delay time.Duration
}

func (s slowStore) Claim(ctx context.Context, c queue.Claim) (queue.Lease, error) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
	}
	return s.store.Claim(ctx, c)
}

func TestBody_StalledUploadIsCut(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{stall: 200 * time.Millisecond})
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	a, err := d.try(t, "POST", "/zika/submit-processed-data?pipelineVersion=1", pipe, io.MultiReader(strings.NewReader("{"), reader), "Content-Type", "application/x-ndjson")
	if err != nil {
		t.Fatal(err)
	}
	a.problem(t, 408, "slowly")
}

// brokenStore fails on purpose.
type brokenStore struct {
	store
	afterReleased atomic.Int64 // ReadReleased fails after so many entries
	pages         bool         // ReadClaimed fails beyond the first page
	panics        bool         // Group panics
}

var errBroken = errors.New("the disk of secret-host is on fire")

func (b *brokenStore) ReadReleased(ctx context.Context, o seqlease.Organism, begin func(submission.ReleasedHead) error, yield func(submission.ReleasedEntry) error) error {
	if b.afterReleased.Load() < 0 {
		return errBroken
	}
	var count int64
	return b.store.ReadReleased(ctx, o, begin, func(e submission.ReleasedEntry) error {
		if count++; count > b.afterReleased.Load() {
			return errBroken
		}
		return yield(e)
	})
}

func (b *brokenStore) ReadClaimed(ctx context.Context, id seqlease.AttemptID, skip, limit int) ([]queue.ClaimedEntry, error) {
	if b.pages && skip > 0 {
		return nil, errBroken
	}
	return b.store.ReadClaimed(ctx, id, skip, limit)
}

func (b *brokenStore) Group(ctx context.Context, id int64) (seqlease.Group, []string, error) {
	if b.panics {
		panic("a bug")
	}
	return b.store.Group(ctx, id)
}

// TestReleased_L15_FailureMidwayIsVisible breaks the reading at several places:
// nothing but records is in the body, and no body that lacks one looks whole (B064).
func TestReleased_L15_FailureMidwayIsVisible(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{}
	d := newDoor(t, doorOptions{wrap: func(s store) store { broken.store = s; return broken }})
	d.submit(t, d.newGroup(t, anna), 40, 20)
	d.sendResults(t, resultsOf(d.claim(t, pipe, 40))).want(t, 204)
	d.call(t, "POST", "/zika/approve-processed-data", anna, strings.NewReader(`{"scope":"ALL"}`), "Content-Type", "application/json").want(t, 200)
	for _, after := range []int64{0, 1, 39} {
		broken.afterReleased.Store(after)
		for _, query := range []string{"", "?compression=zstd"} {
			a, err := d.try(t, "GET", "/zika/get-released-data"+query, "", nil)
			if err == nil && a.StatusCode == http.StatusOK {
				t.Errorf("after %d entries%s: the body of %d bytes looks whole", after, query, len(a.body))
			}
			if bytes.Contains(a.body, []byte("secret-host")) {
				t.Errorf("after %d entries%s: the body tells the cause: %s", after, query, a.body)
			}
			if query == "" && err != nil {
				for line := range bytes.Lines(a.body) {
					if !bytes.HasPrefix(line, []byte(`{"metadata":`)) {
						t.Errorf("after %d entries: %.100q is no record", after, line)
					}
				}
			}
		}
	}
	broken.afterReleased.Store(-1)
	p := d.call(t, "GET", "/zika/get-released-data", "", nil).problem(t, 500)
	if strings.Contains(p.Detail, "secret") || !strings.Contains(d.log.String(), "secret-host") {
		t.Errorf("detail %q; the log must tell the cause", p.Detail)
	}
	broken.afterReleased.Store(1000)
	if a := d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200); bytes.Count(a.body, []byte("\n")) != 40 {
		t.Errorf("%d lines after the repair, want 40", bytes.Count(a.body, []byte("\n")))
	}
}

// TestClaim_L15_UnreadablePageIsVisible breaks a claim in its second page: the
// answer is cut and the whole claim given back (L8).
func TestClaim_L15_UnreadablePageIsVisible(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{pages: true}
	d := newDoor(t, doorOptions{wrap: func(s store) store { broken.store = s; return broken }})
	d.submit(t, d.newGroup(t, anna), 1100, 20)
	a, err := d.try(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1100&pipelineVersion=1", pipe, nil)
	if err == nil {
		t.Errorf("the body of %d lines looks whole", bytes.Count(a.body, []byte("\n")))
	}
	d.allWaitAgain(t, 1100)
}

func TestDoor_PanicIsA500(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{panics: true}
	d := newDoor(t, doorOptions{wrap: func(s store) store { broken.store = s; return broken }})
	p := d.call(t, "GET", "/groups/1", "", nil, "X-Request-Id", "panicking").problem(t, 500, "panicking")
	if strings.Contains(p.Detail, "a bug") {
		t.Errorf("detail %q tells the cause", p.Detail)
	}
	if log := d.log.String(); !strings.Contains(log, "a bug") || !strings.Contains(log, "delivery_test.go") {
		t.Error("the log tells neither cause nor place")
	}
	d.call(t, "GET", "/healthz", "", nil).want(t, 200)
}
