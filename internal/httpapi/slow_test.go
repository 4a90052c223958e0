package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/queue"
)

// TestResults_L12_SlowSendersHoldNobodyUp has many clients stop in the middle of their
// results: of a line that is short, of one that is long, and of a body with many lines.
func TestResults_L12_SlowSendersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.submit(t, d.newGroup(t, anna), 3, 20)
	entries := d.claim(t, pipe, 3)
	whole := resultOf(entries[0])
	for name, begun := range map[string]string{
		"a line":          whole[:len(whole)/2],
		"a long line":     strings.Repeat(" ", 700<<10) + whole[:len(whole)/2],
		"after many":      strings.Repeat("{}\n", 3000),
		"nothing at all":  "",
		"between lines":   whole + "\n",
		"in two MiB more": strings.Repeat(" ", 3<<20),
	} {
		for range 15 { // all together are more than may be worked on while they come
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			head := "POST /zika/submit-processed-data?pipelineVersion=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + pipe +
				"\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000000\r\nExpect: 100-continue\r\n\r\n"
			if _, err := fmt.Fprint(c, head); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			// The server says so when it begins to read.
			if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
				t.Fatalf("%s: got %q and error %v", name, line, err)
			}
			if _, err := fmt.Fprint(c, begun); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	d.sendResults(t, resultsOf(entries[:2])).want(t, 204)
	long := strings.Repeat(" ", 700<<10) + resultOf(entries[2])
	d.sendResults(t, long).want(t, 204)
}

// waitingStore stores results when it is let.
type waitingStore struct {
	store
	reached, let chan struct{}
}

func (s waitingStore) AcceptResults(ctx context.Context, r queue.Submission) (queue.Accepted, error) {
	select {
	case s.reached <- struct{}{}:
		<-s.let
	case <-ctx.Done():
	}
	return s.store.AcceptResults(ctx, r)
}

// TestResults_L12_WaitingForTheStoreTakesNoTurn has more submissions wait for the store
// than are worked on at once.
func TestResults_L12_WaitingForTheStoreTakesNoTurn(t *testing.T) {
	t.Parallel()
	slow := waitingStore{reached: make(chan struct{}), let: make(chan struct{})}
	d := newDoor(t, doorOptions{wrap: func(s store) store { slow.store = s; return slow }})
	let := sync.OnceFunc(func() { close(slow.let) })
	defer let()
	n := 2*runtime.GOMAXPROCS(0) + 1
	d.submit(t, d.newGroup(t, anna), n, 20)
	entries := d.claim(t, pipe, n)
	answers := make(chan int, n)
	for _, e := range entries {
		go func() {
			a, err := d.try(t, "POST", "/zika/submit-processed-data?pipelineVersion=1", pipe, strings.NewReader(resultOf(e)+"\n"), "Content-Type", "application/x-ndjson")
			if err != nil {
				t.Error(err)
				answers <- 0
				return
			}
			answers <- a.StatusCode
		}()
	}
	timeout := time.After(soon)
	for i := range n {
		select {
		case <-slow.reached:
		case <-timeout:
			t.Fatalf("%d of %d submissions reach the store while it is busy", i, n)
		}
	}
	let()
	for range n {
		if status := <-answers; status != http.StatusNoContent {
			t.Errorf("got status %d, want 204", status)
		}
	}
}

// TestAnswer_SilentClientsGetIt has clients that announce a body, of which nobody reads
// anything, and don't send it.
func TestAnswer_SilentClientsGetIt(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{stall: 200 * time.Millisecond})
	const results = "POST /zika/submit-processed-data?pipelineVersion=1 HTTP/1.1\r\nHost: x\r\n"
	for head, want := range map[string]string{
		results: " 403 ",
		results + "Authorization: Bearer nobody\r\n":                                                              " 401 ",
		results + "Authorization: Bearer " + pipe + "\r\n":                                                        " 415 ",
		"POST /" + strings.Repeat("x", 10_000) + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + pipe + "\r\n": " 404 ",
		"GET /healthz HTTP/1.1\r\nHost: x\r\n":                                                                    " 200 ",
	} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprint(c, head+"Content-Length: 1000\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(soon)); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Errorf("%.80q: got %q and error %v, want%s", head, line, err, want)
		}
	}
}
