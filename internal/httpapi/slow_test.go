package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
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
