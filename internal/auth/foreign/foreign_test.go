package foreign_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

func verifier(t *testing.T, o auth.OIDCOptions) *auth.OIDC {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	v, err := auth.NewOIDC(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// post sends a form and decodes the answer.
func post(t *testing.T, to string, form url.Values) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(content, &answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", to, response.StatusCode, content)
	}
	return answer
}

// TestMockOIDC takes the tokens of a login with a code, signed by golang-jwt, and
// follows a change of the key.
func TestMockOIDC(t *testing.T) {
	t.Parallel()
	provider, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Shutdown() })
	login := func() map[string]any {
		t.Helper()
		query := url.Values{
			"scope": {"openid profile"}, "state": {"s"}, "client_id": {provider.ClientID}, "response_type": {"code"},
			"redirect_uri": {"http://127.0.0.1/back"}, "nonce": {"n"},
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, provider.AuthorizationEndpoint()+"?"+query.Encode(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		back, err := response.Location()
		if err != nil {
			t.Fatal(err)
		}
		return post(t, provider.TokenEndpoint(), url.Values{
			"client_id": {provider.ClientID}, "client_secret": {provider.ClientSecret}, "grant_type": {"authorization_code"}, "code": {back.Query().Get("code")},
		})
	}
	clock := time.Now()
	v := verifier(t, auth.OIDCOptions{
		Issuer: provider.Issuer(), Audience: provider.ClientID, UserClaim: "sub", Now: func() time.Time { return clock },
	})
	token := login()["access_token"].(string)
	got, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, seqlease.Person{Name: mockoidc.DefaultUser().Subject}); diff != "" {
		t.Errorf("got/want %s", diff)
	}
	other := verifier(t, auth.OIDCOptions{Issuer: provider.Issuer(), Audience: "somebody else", UserClaim: "sub"})
	if _, err := other.Verify(t.Context(), token); !errors.Is(err, auth.ErrWrongAudience) {
		t.Errorf("another audience: %v", err)
	}
	nameless := verifier(t, auth.OIDCOptions{Issuer: provider.Issuer()})
	if _, err := nameless.Verify(t.Context(), token); !errors.Is(err, auth.ErrNameless) {
		t.Errorf("no preferred_username: %v", err)
	}

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if provider.Keypair, err = mockoidc.NewKeypair(key); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Minute)
	if _, err := v.Verify(t.Context(), login()["access_token"].(string)); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, auth.ErrUnknownKey) {
		t.Errorf("a token of the key that is gone: %v", err)
	}
}

// machines makes zitadel's example give JWTs with Keycloak's claims to its service
// users, who log in with client credentials.
type machines struct{ *storage.Storage }

type machine struct{ op.Client }

func (machine) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

func (m machines) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	client, err := m.Storage.ClientCredentials(ctx, id, secret)
	if err != nil {
		return nil, err
	}
	return machine{client}, nil
}

func (m machines) GetPrivateClaimsFromScopes(_ context.Context, user, _ string, _ []string) (map[string]any, error) {
	return map[string]any{
		"preferred_username": "service-account-" + user,
		"realm_access":       map[string]any{"roles": []string{"offline_access", "preprocessing_pipeline"}},
	}, nil
}

// TestZitadel takes the tokens that a machine gets for its credentials.
func TestZitadel(t *testing.T) { //nolint:paralleltest // the example sets the logger of the process
	server := httptest.NewUnstartedServer(nil)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	issuer := "http://localhost:" + port + "/"
	server.Config.Handler = exampleop.SetupServer(issuer, machines{storage.NewStorage(storage.NewUserStore(issuer))}, slog.New(slog.DiscardHandler), false)
	server.Start()
	t.Cleanup(server.Close)

	v := verifier(t, auth.OIDCOptions{Issuer: issuer, Audience: "sid1"})
	answer := post(t, issuer+"oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"sid1"}, "client_secret": {"verysecret"}, "scope": {"openid"}})
	token := answer["access_token"].(string)
	got, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, seqlease.Person{Name: "service-account-sid1", Roles: []seqlease.Role{seqlease.PreprocessingPipeline}}); diff != "" {
		t.Errorf("got/want %s", diff)
	}
	without := verifier(t, auth.OIDCOptions{Issuer: strings.TrimSuffix(issuer, "/")})
	if _, err := without.Verify(t.Context(), token); !errors.Is(err, auth.ErrWrongIssuer) {
		t.Errorf("the issuer in another spelling: %v", err)
	}
}

// TestGoOIDC reads the built-in issuer with a foreign client: its discovery document,
// its keys and its tokens.
func TestGoOIDC(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	origin := "http://" + server.Listener.Addr().String()
	users := auth.DevUsers()
	for i := range users {
		users[i].Password = "password"
	}
	issuer, err := auth.NewDevIssuer(origin, users, nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = issuer
	server.Start()
	t.Cleanup(server.Close)

	provider, err := oidc.NewProvider(t.Context(), origin+"/realms/loculus")
	if err != nil {
		t.Fatal(err)
	}
	answer := post(t, provider.Endpoint().TokenURL, url.Values{
		"client_id": {"backend-client"}, "grant_type": {"password"}, "username": {"superuser"}, "password": {"password"},
	})
	token, err := provider.Verifier(&oidc.Config{ClientID: "account"}).Verify(t.Context(), answer["access_token"].(string))
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Username    string `json:"preferred_username"`
		RealmAccess struct {
			Roles []string `json:"roles"`
		} `json:"realm_access"`
	}
	if err := token.Claims(&claims); err != nil {
		t.Fatal(err)
	}
	if claims.Username != "superuser" || !cmp.Equal(claims.RealmAccess.Roles, []string{"user", "super_user"}) {
		t.Errorf("the claims are %+v", claims)
	}
	if left := time.Until(token.Expiry); left < 9*time.Hour || left > 10*time.Hour {
		t.Errorf("it is good for %s, want ten hours", left)
	}
	if _, err := provider.Verifier(&oidc.Config{ClientID: "account"}).Verify(t.Context(), answer["refresh_token"].(string)); err == nil {
		t.Error("a refresh token passes for a signed one")
	}
}
