package httpapi_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestSwaggerUI_ShowsEveryOperationInABrowser opens the page in Chromium, as a
// page that is blocked by its own content security policy, or whose scripts
// don't fit the document, has the right bytes all the same.
func TestSwaggerUI_ShowsEveryOperationInABrowser(t *testing.T) {
	t.Parallel()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Fatal("no Chromium found: install it (Debian: apt-get install chromium), or run scripts/test, which does")
	}
	d := newDoor(t, doorOptions{})
	command := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=20000", "--enable-logging=stderr", "--dump-dom", d.url+"/swagger-ui/")
	var dom, log bytes.Buffer
	command.Stdout, command.Stderr = &dom, &log
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, &log)
	}
	for _, want := range []string{
		"/{organism}/submit", "/{organism}/extract-unprocessed-data", "/{organism}/submit-processed-data", "/{organism}/get-sequences",
		"/{organism}/approve-processed-data", "/{organism}/get-released-data",
	} {
		// Swagger UI breaks long paths with zero-width spaces, shown as <wbr>.
		if page := strings.NewReplacer("<wbr>", "", "\u200b", "", "&ZeroWidthSpace;", "").Replace(dom.String()); !strings.Contains(page, want) {
			t.Errorf("the page doesn't show %s; the browser said:\n%s\n%.3000s", want, &log, &dom)
		}
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, ":CONSOLE") && (strings.Contains(line, "Error") || strings.Contains(line, "Refused")) {
			t.Errorf("the browser's console says: %s", line)
		}
	}
}
