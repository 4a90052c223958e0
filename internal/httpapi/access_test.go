package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seqlease/seqlease/internal/httpapi"
)

// TestAccess_BeforeTheBody checks that a body isn't asked for before the caller
// was (B094).
func TestAccess_BeforeTheBody(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for _, path := range []string{"/zika/submit-processed-data", "/zika/submit", "/groups", "/zika/return-lease", "/zika/quarantine"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Encoding: zstd\r\nContent-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n", path)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", path, response.StatusCode)
		}
		_ = response.Body.Close()
		_ = conn.Close()
	}
}

func TestDoor_UnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.call(t, "GET", "/zika/nothing", anna, nil).problem(t, 404, "/zika/nothing")
	d.call(t, "GET", "/actuator/nothing", "", nil).problem(t, 404)
	a := d.call(t, "GET", "/zika/submit", anna, nil)
	a.problem(t, 405, "POST")
	if got := a.Header.Get("Allow"); got != "POST" {
		t.Errorf("Allow is %q, want POST", got)
	}
	d.call(t, "POST", "//zika/extract-unprocessed-data", pipe, nil).problem(t, 404)
	for _, path := range []string{
		"/nowhere/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", "/nowhere/submit", "/nowhere/submit-processed-data?pipelineVersion=1",
	} {
		p := d.call(t, "POST", path, pipe, strings.NewReader(""), "Content-Type", "application/x-ndjson").problem(t, 400, "nowhere", "zika", "cchf")
		if p.Type != "urn:seqlease:problem:unknown-organism" {
			t.Errorf("%s: type %s", path, p.Type)
		}
	}
	d.call(t, "GET", "/nowhere/get-sequences", anna, nil).problem(t, 400, "nowhere", "zika")
	d.call(t, "GET", "/nowhere/get-released-data", "", nil).problem(t, 400, "nowhere", "zika")
	d.call(t, "GET", "/ZIKA/get-released-data", "", nil).problem(t, 400, "ZIKA")
}

func TestDoor_RequestID(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	for _, tt := range []struct {
		sent   string
		echoed bool
	}{
		{"abc-123", true},
		{strings.Repeat("x", 128), true},
		{strings.Repeat("x", 129), false},
		{"two words", false},
		{"caf\u00e9", false},
		{"", false},
	} {
		for _, path := range []string{"/healthz", "/nothing", "/zika/get-released-data"} {
			got := d.call(t, "GET", path, "", nil, "X-Request-Id", tt.sent).Header.Get("X-Request-Id")
			if (got == tt.sent) != tt.echoed || got == "" {
				t.Errorf("%s: sent %q, got %q", path, tt.sent, got)
			}
		}
	}
	first, second := d.call(t, "GET", "/healthz", "", nil), d.call(t, "GET", "/healthz", "", nil)
	if id := first.Header.Get("X-Request-Id"); len(id) != 36 || id == second.Header.Get("X-Request-Id") {
		t.Errorf("new ids are %q and %q", id, second.Header.Get("X-Request-Id"))
	}
	if !strings.Contains(d.log.String(), "request_id=abc-123") {
		t.Error("the log doesn't name the request")
	}
}

func TestDoor_CORS(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	a := d.call(t, "OPTIONS", "/zika/submit", "", nil, "Origin", "https://example.org",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization, x-request-id").want(t, 204)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization, x-request-id", "Access-Control-Max-Age": "3600",
		"Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS, HEAD",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	b := d.call(t, "GET", "/user/groups", "", nil, "Origin", "https://example.org").want(t, 401)
	if got := b.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("an error has Access-Control-Allow-Origin %q", got)
	}
}

func TestDoor_InfoAndHealth(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var info httpapi.ServerInfo
	d.call(t, "GET", "/", "", nil, "Accept", "*/*").want(t, 200).into(t, &info)
	if info.Name != "Test <instance>" || info.Status == "" || info.Documentation != "/swagger-ui/" || info.IsInDebugMode {
		t.Errorf("info is %+v", info)
	}
	page := d.call(t, "GET", "/", "", nil, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8").want(t, 200)
	if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(page.body), "Test &lt;instance&gt;") {
		t.Errorf("the page is %s", page.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"} {
		if got := string(d.call(t, "GET", path, "", nil).want(t, 200).body); got != `{"status":"UP"}` {
			t.Errorf("%s: got %s", path, got)
		}
	}
	down := newDoor(t, doorOptions{ready: notReady})
	for path, status := range map[string]int{
		"/healthz": 200, "/actuator/health/liveness": 200, "/readyz": 503, "/actuator/health": 503, "/actuator/health/readiness": 503,
	} {
		if a := down.call(t, "GET", path, "", nil).want(t, status); status == 503 && string(a.body) != `{"status":"DOWN"}` {
			t.Errorf("%s: got %s", path, a.body)
		}
	}
}

func TestDoor_Documentation(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var spec struct {
		OpenAPI string
		Paths   map[string]any
	}
	d.call(t, "GET", "/openapi.json", "", nil).want(t, 200).into(t, &spec)
	if spec.OpenAPI != "3.1.0" || spec.Paths["/{organism}/submit"] == nil {
		t.Errorf("the description is %+v", spec)
	}
	page := d.call(t, "GET", "/swagger-ui/", "", nil).want(t, 200)
	if !strings.Contains(page.Header.Get("Content-Security-Policy"), "script-src 'self' 'unsafe-inline'") || !strings.Contains(string(page.body), "../openapi.json") {
		t.Errorf("policy %q, page %s", page.Header.Get("Content-Security-Policy"), page.body)
	}
	for _, file := range []string{"swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"} {
		if !strings.Contains(string(page.body), `"./`+file+`"`) {
			t.Errorf("the page doesn't load %s", file)
		}
		if a := d.call(t, "GET", "/swagger-ui/"+file, "", nil, "Accept-Encoding", "gzip").want(t, 200); len(a.body) < 1000 {
			t.Errorf("%s has %d bytes", file, len(a.body))
		}
	}
	if a := d.call(t, "GET", "/swagger-ui/index.html", "", nil).want(t, 200); string(a.body) != string(page.body) {
		t.Error("index.html is another page")
	}
	d.call(t, "GET", "/swagger-ui/none.js", "", nil).want(t, 404)
	for _, loads := range []string{`src="http`, `href="http`, `src="//`, `href="//`} {
		if strings.Contains(string(page.body), loads) {
			t.Errorf("the page loads something from elsewhere: %s", page.body)
		}
	}
}

func TestDoor_LargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	d.call(t, "GET", "/healthz", "", nil, "X-Filler", strings.Repeat("x", 15<<10)).want(t, 200)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// The server doesn't read all of it, so that writing may fail; the answer comes all the same.
	_, wrote := fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Filler: %s\r\n\r\n", strings.Repeat("x", 40<<10))
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v (writing: %v)", err, wrote)
	}
	defer func() { _ = a.Body.Close() }()
	if a.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %s, want 431", a.Status)
	}
}

func TestDoor_ReadOnly(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{readOnly: true})
	for _, path := range []string{
		"/zika/extract-unprocessed-data?numberOfSequenceEntries=0&pipelineVersion=1", "/zika/get-submitted-data", "/zika/submit", "/groups/1", "/nowhere/nothing",
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			p := d.call(t, method, path, pipe, nil).problem(t, 503, "read-only")
			if p.Type != "about:blank" {
				t.Errorf("%s %s: type %s, which tells clients to try again", method, path, p.Type)
			}
			d.call(t, method, path, "", nil).want(t, 403)
		}
	}
	d.call(t, "GET", "/zika/get-sequences", anna, nil).want(t, 200)
	d.call(t, "OPTIONS", "/zika/submit", "", nil).want(t, 204)
}
