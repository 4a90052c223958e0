package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/httpapi"
)

// TestContract_Info asks for what the server is in the ways that clients do.
func TestContract_Info(t *testing.T) {
	t.Parallel()
	for _, debug := range []bool{false, true} {
		d := newDoor(t, doorOptions{debug: debug})
		for _, tt := range []struct {
			accept string
			html   bool
		}{
			{"", false},
			{"*/*", false},
			{"application/json", false},
			{"application/json, text/html", false},
			{"text/html", true},
			{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
			{"text/html, application/json", true},
		} {
			a := d.call(t, "GET", "/", "", nil, "Accept", tt.accept).want(t, 200)
			if tt.html {
				if a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(a.body), "<h1>Test &lt;instance&gt;</h1>") {
					t.Errorf("Accept %q: %s %q, want a page", tt.accept, a.Header.Get("Content-Type"), a.body)
				}
				continue
			}
			var got map[string]any
			a.into(t, &got)
			want := map[string]any{"name": "Test <instance>", "status": "running", "documentation": "/swagger-ui/", "isInDebugMode": debug}
			if diff := cmp.Diff(want, got); diff != "" || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("Accept %q: %s (-want +got):\n%s", tt.accept, a.Header.Get("Content-Type"), diff)
			}
		}
		d.call(t, "GET", "/", "", nil, "Accept", "image/png").problem(t, 406)
	}
}

func TestContract_PublicPathsOfTheServer(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{}, func(t *testing.T, d *door) {
		for _, path := range []string{"/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"} {
			if a := d.call(t, "GET", path, "", nil).want(t, 200); string(a.body) != `{"status":"UP"}` {
				t.Errorf("%s: %q", path, a.body)
			}
		}
		document := d.call(t, "GET", "/openapi.json", "", nil).want(t, 200)
		alias := d.call(t, "GET", "/api-docs", "", nil).want(t, 200)
		if string(document.body) != string(alias.body) || alias.Header.Get("Content-Type") != "application/json" || !json.Valid(alias.body) {
			t.Errorf("/api-docs isn't the OpenAPI document: %s, %.100q", alias.Header.Get("Content-Type"), alias.body)
		}
		if a := d.call(t, "GET", "/swagger-ui/index.html", "", nil).want(t, 200); !strings.Contains(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("/swagger-ui/index.html: %s", a.Header.Get("Content-Type"))
		}
		if a := d.call(t, "GET", "/favicon.ico", "", nil).want(t, 204); len(a.body) > 0 {
			t.Errorf("/favicon.ico: %q", a.body)
		}
		for _, path := range []string{"/error", "/error/a/b", "/actuator/nothing", "/api-docs/yaml", "/swagger-ui/nothing/at/all"} {
			d.call(t, "GET", path, "", nil).problem(t, 404, path)
			d.call(t, "GET", path, "", nil, "Authorization", "Bearer bad token").want(t, 401)
		}
	})
}

// TestContract_LoculusInfo has the command line client find everything.
func TestContract_LoculusInfo(t *testing.T) {
	t.Parallel()
	configured := httpapi.Hosts{
		Backend: "https://api.example.org/", IdentityProvider: "https://id.example.org", Website: "https://www.example.org/",
		QueryEngines: map[seqlease.Organism]string{"zika": "https://lapis.example.org/zika/"},
	}
	for name, tt := range map[string]struct {
		hosts httpapi.Hosts
		want  func(origin string) map[string]any
	}{
		"configured": {configured, func(string) map[string]any {
			return map[string]any{
				"backend": "https://api.example.org", "keycloak": "https://id.example.org", "website": "https://www.example.org",
				"lapis": map[string]any{"zika": "https://lapis.example.org/zika", "cchf": "https://api.example.org/cchf"},
			}
		}},
		"from one origin": {httpapi.Hosts{}, func(origin string) map[string]any {
			return map[string]any{
				"backend": origin, "keycloak": origin, "website": origin, "lapis": map[string]any{"zika": origin + "/zika", "cchf": origin + "/cchf"},
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, doorOptions{hosts: tt.hosts})
			var got map[string]any
			d.call(t, "GET", "/loculus-info", "", nil).want(t, 200).into(t, &got)
			fields := []any{
				map[string]any{"name": "country", "type": "string", "required": false},
				map[string]any{"name": "date", "type": "date", "required": false},
				map[string]any{"name": "age", "type": "int", "required": false},
			}
			organism := func(name string, segments ...string) map[string]any {
				genomes := []any{}
				for _, segment := range segments {
					genomes = append(genomes, map[string]any{"name": segment, "references": []any{map[string]any{"name": "singleReference"}}})
				}
				return map[string]any{
					"schema": map[string]any{
						"organismName": name, "primaryKey": "accessionVersion", "metadata": fields, "tableColumns": []any{"country", "date", "age"},
					},
					"referenceGenomes": genomes,
				}
			}
			want := map[string]any{
				"title": "Test <instance>", "minCliVersion": "0.0.0", "hosts": tt.want(d.url),
				"organisms": map[string]any{
					"zika": organism("Zika virus", "main"), "cchf": organism("Crimean-Congo haemorrhagic fever virus", "L", "M", "S"),
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
		})
	}
}
