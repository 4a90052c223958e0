package auth_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

const devPassword = "correct horse"

const tokenPath = "/realms/loculus/protocol/openid-connect/token"

// devServer serves a built-in issuer on a real socket.
func devServer(t *testing.T) (issuer *auth.DevIssuer, url string, c *clock) {
	t.Helper()
	c = newClock()
	server := httptest.NewUnstartedServer(nil)
	users := auth.DevUsers()
	for i := range users {
		users[i].Password = devPassword
	}
	url = "http://" + server.Listener.Addr().String()
	issuer, err := auth.NewDevIssuer(url, users, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = issuer
	server.Start()
	t.Cleanup(server.Close)
	return issuer, url, c
}

// form asks for a token; pairs are names and values.
func form(t *testing.T, base string, pairs ...string) (status int, answer map[string]any, header http.Header) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+tokenPath, strings.NewReader(values.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(t, r)
}

func do(t *testing.T, r *http.Request) (status int, answer map[string]any, header http.Header) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &answer); err != nil {
			t.Fatalf("%s: %v", content, err)
		}
	}
	return response.StatusCode, answer, response.Header
}

func login(t *testing.T, base, user string) map[string]any {
	t.Helper()
	status, answer, _ := form(t, base, "client_id", "backend-client", "grant_type", "password", "username", user, "password", devPassword)
	if status != http.StatusOK {
		t.Fatalf("%s: got %d, %v", user, status, answer)
	}
	return answer
}

func TestDevIssuer_GivesTokensAsKeycloakDoes(t *testing.T) {
	t.Parallel()
	issuer, base, c := devServer(t)
	// Whoever finds the keys by discovery takes the tokens, too.
	outside, err := auth.NewOIDC(auth.OIDCOptions{Issuer: base + "/realms/loculus", Now: c.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for user, roles := range map[string][]seqlease.Role{
		"testuser": nil, "otheruser": nil, "insdc_ingest_user": nil, "superuser": {seqlease.SuperUser},
		"preprocessing_pipeline":    {seqlease.PreprocessingPipeline},
		"external_metadata_updater": {seqlease.ExternalMetadataUpdater},
	} {
		answer := login(t, base, user)
		if answer["token_type"] != "Bearer" || answer["expires_in"] != 36000.0 || answer["refresh_expires_in"].(float64) <= 36000 || answer["refresh_token"] == "" {
			t.Errorf("the answer is %v", answer)
		}
		for name, v := range map[string]*auth.OIDC{"inside": issuer.Verifier(), "outside": outside} {
			got, err := v.Verify(t.Context(), answer["access_token"].(string))
			if err != nil {
				t.Errorf("%s, %s: %v", user, name, err)
			}
			if diff := cmp.Diff(got, seqlease.Person{Name: user, Roles: roles}); diff != "" {
				t.Errorf("%s, %s: got/want %s", user, name, diff)
			}
		}
		if known, err := issuer.KnowsUser(t.Context(), user); !known || err != nil {
			t.Errorf("%s is not known: %v", user, err)
		}
	}
	if known, err := issuer.KnowsUser(t.Context(), "nobody"); known || err != nil {
		t.Errorf("nobody is known: %v", err)
	}
	c.pass(10*time.Hour + time.Minute)
	if _, err := issuer.Verifier().Verify(t.Context(), login(t, base, "testuser")["access_token"].(string)); err != nil {
		t.Errorf("a new token later: %v", err)
	}
}

func TestDevIssuer_Refresh(t *testing.T) {
	t.Parallel()
	issuer, base, c := devServer(t)
	first := login(t, base, "superuser")
	refresh := func(token any) (int, map[string]any) {
		status, answer, _ := form(t, base, "client_id", "backend-client", "grant_type", "refresh_token", "refresh_token", token.(string))
		return status, answer
	}
	c.pass(11 * time.Hour)
	if _, err := issuer.Verifier().Verify(t.Context(), first["access_token"].(string)); !errors.Is(err, auth.ErrExpired) {
		t.Errorf("the old token: %v", err)
	}
	status, answer := refresh(first["refresh_token"])
	if status != http.StatusOK {
		t.Fatalf("got %d, %v", status, answer)
	}
	if got, err := issuer.Verifier().Verify(t.Context(), answer["access_token"].(string)); err != nil || got.Name != "superuser" || !got.Has(seqlease.SuperUser) {
		t.Errorf("got %+v, %v", got, err)
	}
	// Neither token can be used as the other.
	if _, err := issuer.Verifier().Verify(t.Context(), first["refresh_token"].(string)); !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("a refresh token as an access token: %v", err)
	}
	_, otherBase, _ := devServer(t)
	for name, token := range map[string]any{
		"an access token": answer["access_token"], "nonsense": "x.y.z", "nothing": "", "somebody else's": login(t, otherBase, "superuser")["refresh_token"],
		"a cut one": first["refresh_token"].(string)[:100], "a long one": strings.Repeat("x", 20<<10),
	} {
		if status, answer := refresh(token); status != http.StatusBadRequest || answer["error"] != "invalid_grant" {
			t.Errorf("%s: got %d, %v", name, status, answer)
		}
	}
	c.pass(7 * 24 * time.Hour)
	if status, _ := refresh(first["refresh_token"]); status != http.StatusBadRequest {
		t.Errorf("after a week: got %d", status)
	}
}

func TestDevIssuer_Refuses(t *testing.T) {
	t.Parallel()
	_, base, _ := devServer(t)
	good := []string{"client_id", "backend-client", "grant_type", "password", "username", "testuser", "password", devPassword}
	for name, tt := range map[string]struct {
		change map[string]string
		status int
		code   string
	}{
		"a wrong password":  {map[string]string{"password": "wrong"}, 401, "invalid_grant"},
		"no password":       {map[string]string{"password": ""}, 401, "invalid_grant"},
		"an unknown user":   {map[string]string{"username": "mallory"}, 401, "invalid_grant"},
		"no user":           {map[string]string{"username": ""}, 401, "invalid_grant"},
		"another spelling":  {map[string]string{"username": "TestUser"}, 401, "invalid_grant"},
		"an unknown client": {map[string]string{"client_id": "x"}, 401, "invalid_client"},
		"no client":         {map[string]string{"client_id": ""}, 401, "invalid_client"},
		"no grant type":     {map[string]string{"grant_type": ""}, 400, "invalid_request"},
		"another grant":     {map[string]string{"grant_type": "client_credentials"}, 400, "unsupported_grant_type"},
		"too much":          {map[string]string{"username": strings.Repeat("x", 40<<10)}, 400, "invalid_request"},
	} {
		pairs := append([]string{}, good...)
		for i := 0; i < len(pairs); i += 2 {
			if value, changed := tt.change[pairs[i]]; changed {
				pairs[i+1] = value
			}
		}
		if status, answer, _ := form(t, base, pairs...); status != tt.status || answer["error"] != tt.code || answer["access_token"] != nil {
			t.Errorf("%s: got %d, %v; want %d, %s", name, status, answer, tt.status, tt.code)
		}
	}
	// A password in the address would end in logs.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+tokenPath+"?client_id=backend-client&grant_type=password&username=testuser&password=correct+horse", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if status, _, _ := do(t, r); status != http.StatusUnauthorized {
		t.Errorf("a password in the address: got %d", status)
	}
}

func TestDevIssuer_PathsAndMethods(t *testing.T) {
	t.Parallel()
	_, base, _ := devServer(t)
	call := func(method, path string) (int, map[string]any, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return do(t, r)
	}
	if status, document, header := call("GET", "/realms/loculus/.well-known/openid-configuration"); status != 200 ||
		document["token_endpoint"] != base+tokenPath || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %d, %v, %v", status, document, header)
	}
	status, document, _ := call("GET", "/realms/loculus/protocol/openid-connect/certs")
	keys, _ := document["keys"].([]any)
	if status != 200 || len(keys) != 1 {
		t.Fatalf("got %d, %v", status, document)
	}
	key := keys[0].(map[string]any)
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} {
		if _, there := key[private]; there {
			t.Errorf("the key set shows %q of the private key", private)
		}
	}
	if key["use"] != "sig" || key["alg"] != "RS256" || key["kty"] != "RSA" || key["kid"] == "" {
		t.Errorf("the key is %v", key)
	}
	if status, _, header := call("GET", tokenPath); status != 405 || header.Get("Allow") != "POST" {
		t.Errorf("GET for a token: got %d, %q", status, header.Get("Allow"))
	}
	if status, _, _ := call("POST", "/realms/loculus/protocol/openid-connect/certs"); status != 405 {
		t.Errorf("POST for keys: got %d", status)
	}
	if status, _, _ := call("GET", "/realms/loculus/account"); status != 404 {
		t.Errorf("another path: got %d", status)
	}
	if status, _, header := call("OPTIONS", tokenPath); status != 204 || header.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("a preflight: got %d, %v", status, header)
	}
}

func TestDevIssuer_AttemptsAreBounded(t *testing.T) {
	t.Parallel()
	_, base, c := devServer(t)
	try := func(user, password string) int {
		status, _, header := form(t, base, "client_id", "backend-client", "grant_type", "password", "username", user, "password", password)
		if status == http.StatusTooManyRequests && header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		return status
	}
	for range 2 * auth.MaxAttempts { // right ones don't count
		if got := try("testuser", devPassword); got != 200 {
			t.Fatalf("got %d", got)
		}
	}
	var refused, limited atomic.Int64
	var all sync.WaitGroup
	for range 3 * auth.MaxAttempts {
		all.Go(func() {
			switch try("testuser", "guess") {
			case 401:
				refused.Add(1)
			case 429:
				limited.Add(1)
			}
		})
	}
	all.Wait()
	if refused.Load() != auth.MaxAttempts || limited.Load() != 2*auth.MaxAttempts {
		t.Errorf("%d guesses were tried, %d turned away", refused.Load(), limited.Load())
	}
	if got := try("testuser", devPassword); got != 429 {
		t.Errorf("the right password among guesses: got %d", got)
	}
	if got := try("otheruser", devPassword); got != 200 {
		t.Errorf("another user: got %d", got)
	}
	for i := range auth.MaxAttempts + 1 {
		want := 401
		if i == auth.MaxAttempts {
			want = 429
		}
		if got := try(strings.Repeat("x", i+1), "guess"); got != want {
			t.Errorf("unknown user %d: got %d, want %d", i, got, want)
		}
	}
	c.pass(auth.AttemptWindow)
	if got := try("testuser", devPassword); got != 200 {
		t.Errorf("a minute later: got %d", got)
	}
}

func TestNewDevIssuer_RefusesUsersWithoutPassword(t *testing.T) {
	t.Parallel()
	if _, err := auth.NewDevIssuer("http://127.0.0.1:1", auth.DevUsers(), nil); err == nil {
		t.Error("no error")
	}
}

func TestDevIssuer_KeysDifferFromStartToStart(t *testing.T) {
	t.Parallel()
	first, base, _ := devServer(t)
	second, _, _ := devServer(t)
	token := login(t, base, "testuser")["access_token"].(string)
	if _, err := second.Verifier().Verify(t.Context(), token); !errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("another issuer takes it: %v", err)
	}
	if _, err := first.Verifier().Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	if bytes.Contains([]byte(token), []byte(devPassword)) {
		t.Error("the password is in the token")
	}
}
