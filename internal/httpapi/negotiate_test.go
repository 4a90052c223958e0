package httpapi

import "testing"

func TestAcceptable(t *testing.T) {
	t.Parallel()
	lines, document, archive := []string{"application/x-ndjson"}, []string{"application/json"}, []string{"application/zip"}
	for _, tt := range []struct {
		accept   string
		produced []string
		want     bool
	}{
		{"", lines, true},
		{" ", lines, true},
		{"*/*", lines, true},
		{"*/*;q=0.8", document, true},
		{"application/*", lines, true},
		{"APPLICATION/JSON", document, true},
		{"application/json, text/plain, */*", lines, true},                    // browsers' scripts
		{"application/json", lines, true},                                     // clients that ask for JSON everywhere
		{"text/html,application/xhtml+xml,*/*;q=0.8", document, true},         // browsers
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", lines, true}, // old Java
		{"application/x-ndjson; charset=utf-8", lines, true},
		{"text/plain", lines, true},
		{"application/problem+json", document, true},
		{"nonsense", document, true},
		{"text/html;q=x", document, false},
		{"image/png", nil, true}, // nothing is produced
		{"image/png", document, false},
		{"image/*, text/html", document, false},
		{"application/xml", lines, false},
		{"application/x-ndjson", document, false},
		{"application/json;q=0, */*", document, true}, // it may be called something else
		{"text/html, application/json;q=0", document, false},
		{"*/*;q=0", document, false},
		{"application/xml", []string{"application/json", "application/xml"}, true},
		{"application/zip", archive, true},
		{"application/octet-stream", archive, true},
		{"application/json", archive, true},
		{"text/html", archive, false},
	} {
		if got := acceptable([]string{tt.accept}, tt.produced); got != tt.want {
			t.Errorf("Accept: %s for %v: got %v, want %v", tt.accept, tt.produced, got, tt.want)
		}
	}
	if !acceptable(nil, lines) || !acceptable([]string{"image/png", "*/*"}, lines) {
		t.Error("no header and two headers must be taken")
	}
}
