package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/auth"
)

func TestLoadConfig_OIDC(t *testing.T) {
	t.Parallel()
	secrets := environment(map[string]string{"LOOKUP_PASSWORD": "hunter2"})
	load := func(text string) *OIDCConfig {
		t.Helper()
		c, err := loadConfig(write(t, t.TempDir(), "c.yaml", minimal+text), secrets)
		if err != nil {
			t.Fatal(err)
		}
		return c.OIDC
	}
	got := load("oidc: {issuer: 'https://login.example.org/realms/loculus', userLookup: {passwordEnv: LOOKUP_PASSWORD}}\n")
	want := &OIDCConfig{Issuer: "https://login.example.org/realms/loculus", UserLookup: &KeycloakUsers{
		URL: "https://login.example.org", Realm: "loculus", Client: "backend-client", User: "backend", PasswordEnv: "LOOKUP_PASSWORD", password: "hunter2",
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(KeycloakUsers{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = load(`oidc:
  issuer: https://login.example.org/realms/loculus
  jwksUrl: http://keycloak:8083/realms/loculus/protocol/openid-connect/certs
  audience: seqlease
  algorithms: [RS256, ES256]
  userClaim: email
  rolesClaim: resource_access.seqlease.roles
  allowHttp: true
  userLookup: {url: 'http://keycloak:8083', realm: other, client: c, user: u, passwordEnv: LOOKUP_PASSWORD}
`)
	want = &OIDCConfig{
		Issuer: "https://login.example.org/realms/loculus", JWKSURL: "http://keycloak:8083/realms/loculus/protocol/openid-connect/certs",
		Audience: "seqlease", Algorithms: []string{"RS256", "ES256"}, UserClaim: "email", RolesClaim: claimPath{"resource_access", "seqlease", "roles"},
		AllowHTTP: true, UserLookup: &KeycloakUsers{
			URL: "http://keycloak:8083", Realm: "other", Client: "c", User: "u", PasswordEnv: "LOOKUP_PASSWORD", password: "hunter2",
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(KeycloakUsers{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = load("oidc: {issuer: 'http://127.0.0.1:8083', rolesClaim: ['https://example.org/roles']}\n")
	if diff := cmp.Diff(claimPath{"https://example.org/roles"}, got.RolesClaim); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfig_HostsAreThoseThatPeopleReach(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config                     Config
		backend, provider, website string
	}{
		"tokens only":       {Config{BackendURL: "https://b", WebsiteURL: "https://b"}, "https://b", "", "https://b"},
		"Keycloak":          {Config{BackendURL: "https://b", OIDC: &OIDCConfig{Issuer: "https://login/auth/realms/x", JWKSURL: "http://inside/keys"}}, "https://b", "https://login/auth", ""},
		"another provider":  {Config{BackendURL: "https://b", OIDC: &OIDCConfig{Issuer: "https://login.example.org"}}, "https://b", "", ""},
		"for trying things": {Config{BackendURL: "https://b", WebsiteURL: "https://b", Dev: &DevConfig{}}, "", "", ""},
		"with a website":    {Config{BackendURL: "https://b", WebsiteURL: "https://w", Dev: &DevConfig{}}, "", "", "https://w"},
	} {
		if got := tt.config.hosts(); got.Backend != tt.backend || got.IdentityProvider != tt.provider || got.Website != tt.website {
			t.Errorf("%s: got %+v, want %q, %q and %q", name, got, tt.backend, tt.provider, tt.website)
		}
	}
}

func TestLoadConfig_OIDCReportsEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string][]string{
		"oidc: {}": {"oidc.issuer is missing"},
		"oidc: {issuer: 'http://login.example.org', jwksUrl: 'ftp://x', algorithms: [HS256, none, RS256], rolesClaim: 'a..b', userLookup: {}}": {
			"has 8 faults", "oidc.issuer: without TLS", "allowHttp: true", "oidc.jwksUrl: write a URL", `oidc.algorithms: "HS256" is none of`, `oidc.algorithms: "none"`,
			"oidc.rolesClaim has an empty member", "oidc.userLookup.passwordEnv is missing", "userLookup.realm is missing", "userLookup.url is missing",
		},
		"oidc: {issuer: 'https://x/realms/y', userLookup: {passwordEnv: NOT_SET, url: 'http://keycloak'}}": {
			`the environment variable NOT_SET is not set; it should hold the password of "backend"`, "oidc.userLookup.url: without TLS",
		},
	} {
		_, err := loadConfig(write(t, t.TempDir(), "c.yaml", minimal+text+"\n"), environment(nil))
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in:\n%v", text, want, err)
			}
		}
	}
	_, err := loadConfig(write(t, t.TempDir(), "c.yaml", minimal+"oidc: {issuer: 'https://x', rolesClaim: {a: b}}\n"), environment(nil))
	if err == nil || !strings.Contains(err.Error(), "realm_access.roles") {
		t.Errorf("a claim that is an object: %v", err)
	}
}

// TestServe_WithAnIdentityProvider runs a server whose provider is another process's:
// it starts while the provider is down, says so, and takes its tokens when it is up.
func TestServe_WithAnIdentityProvider(t *testing.T) {
	t.Parallel()
	users := auth.DevUsers()
	for i := range users {
		users[i].Password = "password"
	}
	server := httptest.NewUnstartedServer(nil)
	origin := "http://" + server.Listener.Addr().String()
	issuer, err := auth.NewDevIssuer(origin, users, nil)
	if err != nil {
		t.Fatal(err)
	}
	down := make(chan struct{})
	asked := make(chan struct{}, 100)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-down:
			issuer.ServeHTTP(w, r)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	server.Start()
	t.Cleanup(server.Close)
	config := write(t, t.TempDir(), "c.yaml", minimal+"oidc: {issuer: '"+origin+"/realms/loculus'}\n")
	s := serveConfig(t, config, "--store", "sqlite:"+t.TempDir()+"/x.db")
	<-asked
	provider := &servedDev{url: origin}
	close(down)
	token, status := provider.token(t, "testuser", "password")
	if status != http.StatusOK {
		t.Fatalf("login: %d", status)
	}
	c, err := client.New(s.url, token)
	if err != nil {
		t.Fatal(err)
	}
	// It was asked a moment ago, so that it isn't asked again at once.
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err = c.UserGroups(t.Context()); err == nil || time.Now().After(deadline) {
			break
		}
		var problem *client.ProblemError
		if !errors.As(err, &problem) || problem.Status != http.StatusServiceUnavailable {
			t.Fatalf("while the provider was down: %v", err)
		}
		<-tick.C
	}
	if err != nil {
		t.Errorf("after the provider is up: %v", err)
	}
	s.stop(t)
	log := s.log.String()
	if !strings.Contains(log, "the identity provider doesn't tell its keys") || !strings.Contains(log, "tells its keys again") {
		t.Errorf("the log says nothing of the provider:\n%s", log)
	}
	if strings.Contains(log, token) {
		t.Error("the token is in the log")
	}
	if strings.Contains(log, "only what is public") {
		t.Error("the log says that nobody can log in")
	}
}
