package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

func newTestRouter() *router {
	rt := &router{}
	HandlerWithOptions(&server{}, StdHTTPServerOptions{BaseRouter: rt})
	return rt
}

func TestRouter_FindsOperations(t *testing.T) {
	t.Parallel()
	rt := newTestRouter()
	for _, tt := range []struct {
		method, path string
		operation    string
		status       int
		allow        string
	}{
		{"POST", "/zika/submit", "POST /{organism}/submit", 200, ""},
		{"GET", "/zika/get-released-data", "GET /{organism}/get-released-data", 200, ""},
		{"HEAD", "/zika/get-released-data", "GET /{organism}/get-released-data", 200, ""},
		{"GET", "/groups/1", "GET /groups/{groupId}", 200, ""},
		{"GET", "/groups/get-sequences", "GET /groups/{groupId}", 200, ""},
		{"GET", "/user/groups", "GET /user/groups", 200, ""},
		{"GET", "/", "GET /", 200, ""},
		{"GET", "/swagger-ui/", "GET /swagger-ui/", 200, ""},
		{"GET", "/swagger-ui/swagger-ui.css", "GET /swagger-ui/{file}", 200, ""},
		{"GET", "/zika/submit", "", 405, "POST"},
		{"DELETE", "/groups/1", "", 405, "GET, HEAD, PUT"},
		{"PUT", "/groups/1/users/Bert B.", "PUT /groups/{groupId}/users/{name}", 200, ""},
		{"GET", "/groups/1/users/bert", "", 405, "DELETE, PUT"},
		{"PUT", "/groups/1/users/", "", 404, ""},
		{"PUT", "/groups/1/users/a/b", "", 404, ""},
		{"PUT", "/groups/1/users/..", "", 404, ""},
		{"PUT", "/", "", 405, "GET, HEAD"},
		{"GET", "/zika/nothing", "", 404, ""},
		{"GET", "/zika", "", 404, ""},
		{"GET", "/zika/get-sequences/", "", 404, ""},
		{"POST", "//zika/submit", "", 404, ""},
		{"POST", "/zika//submit", "", 404, ""},
		{"POST", "/x/../zika/submit", "", 404, ""},
		{"GET", "//", "", 404, ""},
		{"GET", "/groups/1/2", "", 404, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "http://host/", nil)
		r.URL.Path = tt.path
		operation, status, allow := rt.find(r)
		if operation != tt.operation || status != tt.status || allow != tt.allow {
			t.Errorf("%s %s: got %q %d %q, want %q %d %q", tt.method, tt.path, operation, status, allow, tt.operation, tt.status, tt.allow)
		}
	}
}

// TestRouter_EncodedNamesAreNames: what is percent-encoded in a path never is a
// part of the way.
func TestRouter_EncodedNamesAreNames(t *testing.T) {
	t.Parallel()
	rt := newTestRouter()
	for _, name := range []string{"a%2Fb", "%2F%2F", "%2E%2E", "%2e", "a%20b", "%C3%A9t%C3%A9", "100%25", "%00", "a%2Fusers%2Fb", "x%2F"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "http://host/groups/1/users/"+name, nil)
		operation, status, _ := rt.find(r)
		if operation != "PUT /groups/{groupId}/users/{name}" || status != http.StatusOK {
			t.Errorf("%s: got %q %d", name, operation, status)
		}
	}
}

// TestRouter_RoutesAreDescribed checks both directions: nothing is served that
// openapi.yaml doesn't describe, and all that it describes is served.
func TestRouter_RoutesAreDescribed(t *testing.T) {
	t.Parallel()
	d, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	var served, described []string
	for _, pattern := range newTestRouter().patterns {
		served = append(served, describedAs(pattern))
	}
	for operation := range d.access {
		described = append(described, operation)
	}
	slices.Sort(served)
	slices.Sort(described)
	if !slices.Equal(served, described) {
		t.Errorf("served %v, described %v", served, described)
	}
}

func TestRouter_FixedPathsAreNoOrganisms(t *testing.T) {
	t.Parallel()
	for word := range newTestRouter().words {
		if word != "" && !slices.Contains(organism.ReservedKeys(), word) {
			t.Errorf("an organism could be called %q, which is a path", word)
		}
	}
}

func TestDescription_RolesComeFromTheSpec(t *testing.T) {
	t.Parallel()
	d, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	var public, pipeline, operators []string
	for operation, a := range d.access {
		if a.public {
			public = append(public, operation)
		}
		if slices.Contains(a.roles, seqlease.PreprocessingPipeline) {
			pipeline = append(pipeline, operation)
		}
		if slices.Contains(a.roles, seqlease.SuperUser) {
			operators = append(operators, operation)
		}
	}
	slices.Sort(public)
	slices.Sort(pipeline)
	slices.Sort(operators)
	if want := []string{
		"POST /{organism}/extract-unprocessed-data", "POST /{organism}/renew-lease", "POST /{organism}/return-lease",
		"POST /{organism}/submit-processed-data",
	}; !slices.Equal(pipeline, want) {
		t.Errorf("for pipelines: %v, want %v", pipeline, want)
	}
	if want := []string{
		"GET /admin/audit-log", "GET /admin/current-pipeline-versions", "GET /admin/pipeline-statistics",
		"GET /{organism}/leases", "GET /{organism}/quarantine", "POST /debug/delete-all-sequence-data", "POST /{organism}/leases/free",
		"POST /{organism}/pause",
		"POST /{organism}/pipelines/{version}/pause", "POST /{organism}/pipelines/{version}/resume", "POST /{organism}/quarantine",
		"POST /{organism}/quarantine/requeue", "POST /{organism}/reprocess", "POST /{organism}/resume",
	}; !slices.Equal(operators, want) {
		t.Errorf("for operators: %v, want %v", operators, want)
	}
	want := []string{
		"GET /", "GET /actuator/health", "GET /actuator/health/liveness", "GET /actuator/health/readiness", "GET /api-docs",
		"GET /data-use-terms/{accession}", "GET /favicon.ico", "GET /files/get/{accession}/{version}/{category}/{name}", "GET /groups/{groupId}",
		"GET /healthz", "GET /loculus-info", "GET /openapi.json", "GET /readyz", "GET /swagger-ui/", "GET /swagger-ui/{file}",
		"GET /{organism}/get-released-data",
	}
	if !slices.Equal(public, want) {
		t.Errorf("public: %v, want %v", public, want)
	}
}

func TestDescription_NothingIsPublicByOmission(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"no requirement": "paths: {/x: {get: {operationId: x}}}",
		"alternatives":   "paths: {/x: {get: {security: [{bearer: []}, {}]}}}",
		"another scheme": "paths: {/x: {get: {security: [{cookie: []}]}}}",
		"not YAML":       "paths: [",
	} {
		if _, err := readDescription([]byte(document)); err == nil || !strings.Contains(err.Error(), "openapi.yaml") {
			t.Errorf("%s: got error %v, want one", name, err)
		}
	}
}

func TestNew_NeedsItsRooms(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("no error without rooms")
	}
}

func TestNewServer_HasLimits(t *testing.T) {
	t.Parallel()
	s := NewServer(http.NotFoundHandler())
	if s.MaxHeaderBytes != 20<<10 || s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.WriteTimeout != 0 || s.ReadTimeout != 0 {
		t.Errorf("limits are %d, %v, %v, %v, %v", s.MaxHeaderBytes, s.ReadHeaderTimeout, s.IdleTimeout, s.WriteTimeout, s.ReadTimeout)
	}
}
