package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/seqlease/seqlease/internal/auth"
)

// clock is the time of a test, which passes when the test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_900_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logBuffer collects log lines of many goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// signingKey is a key pair of a provider.
type signingKey struct {
	id      string
	private crypto.Signer
}

var (
	rsaKeys  [3]*rsa.PrivateKey // made once: they take a while
	makeKeys sync.Once
)

// rsaKey returns one of three key pairs.
func rsaKey(t testing.TB, i int) signingKey {
	t.Helper()
	makeKeys.Do(func() {
		for i := range rsaKeys {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				panic(err)
			}
			rsaKeys[i] = key
		}
	})
	return signingKey{fmt.Sprintf("rsa-%d", i), rsaKeys[i]}
}

func ecKey(t testing.TB, curve elliptic.Curve) signingKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signingKey{"ec-" + curve.Params().Name, key}
}

// jwk is the public half as it stands in a key set.
func (k signingKey) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Use: "sig"}
}

// provider is an identity provider on a real socket, with the paths of Keycloak.
type provider struct {
	*httptest.Server
	clock *clock
	log   logBuffer

	mu        sync.Mutex
	keySet    func() []byte
	discovery func() []byte
	answer    func(w http.ResponseWriter, r *http.Request) bool // instead of the usual
	fetches   map[string]int
}

func newProvider(t testing.TB, keys ...signingKey) *provider {
	t.Helper()
	p := &provider{clock: newClock(), fetches: map[string]int{}}
	p.has(keys...)
	p.discovery = func() []byte {
		return fmt.Appendf(nil, `{"issuer":%q,"jwks_uri":%q}`, p.issuer(), p.certs())
	}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) issuer() string { return p.URL + "/realms/loculus" }
func (p *provider) certs() string  { return p.issuer() + "/protocol/openid-connect/certs" }

// has changes the keys.
func (p *provider) has(keys ...signingKey) {
	set := jose.JSONWebKeySet{}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.jwk())
	}
	document, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	p.change(func() { p.keySet = func() []byte { return document } })
}

func (p *provider) change(how func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how()
}

// fails answers everything with the status.
func (p *provider) fails(status int) {
	p.change(func() {
		p.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			return true
		}
	})
}

func (p *provider) works() { p.change(func() { p.answer = nil }) }

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.fetches[r.URL.Path]++
	answer, keySet, discovery := p.answer, p.keySet, p.discovery
	p.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	switch r.URL.Path {
	case "/realms/loculus/.well-known/openid-configuration":
		_, _ = w.Write(discovery())
	case "/realms/loculus/protocol/openid-connect/certs":
		_, _ = w.Write(keySet())
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// asked is how often the keys were fetched.
func (p *provider) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches["/realms/loculus/protocol/openid-connect/certs"]
}

// verifier returns a verifier of the provider's tokens with the provider's clock.
func (p *provider) verifier(t testing.TB, change func(*auth.OIDCOptions)) *auth.OIDC {
	t.Helper()
	o := auth.OIDCOptions{Issuer: p.issuer(), Now: p.clock.Now, Logger: slog.New(slog.NewTextHandler(&p.log, nil))}
	if change != nil {
		change(&o)
	}
	v, err := auth.NewOIDC(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims are those of a good token of the provider, with changes: a nil removes a claim.
func (p *provider) claims(changes map[string]any) map[string]any {
	now := p.clock.Now().Unix()
	claims := map[string]any{
		"iss": p.issuer(), "sub": "6f1c", "aud": "account", "azp": "backend-client", "typ": "Bearer", "iat": now, "exp": now + 36000,
		"preferred_username": "ada", "realm_access": map[string]any{"roles": []any{"user", "super_user"}},
	}
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	return claims
}

// token signs the claims of a good token with changes.
func (p *provider) token(t testing.TB, k signingKey, changes map[string]any) string {
	t.Helper()
	return sign(t, k, map[string]any{"alg": "RS256", "kid": k.id, "typ": "JWT"}, p.claims(changes))
}

// sign makes a token with an RSA signature of any header and payload: what is no
// text is encoded as JSON first.
func sign(t testing.TB, k signingKey, header, payload any) string {
	t.Helper()
	return signParts(t, k, encode(t, header), encode(t, payload))
}

// signParts signs two parts as they are.
func signParts(t testing.TB, k signingKey, header, payload string) string {
	t.Helper()
	input := header + "." + payload
	digest := sha256.Sum256([]byte(input))
	signature, err := k.private.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func encode(t testing.TB, value any) string {
	t.Helper()
	text, isText := value.(string)
	if !isText {
		content, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		text = string(content)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// joseSign makes a token with any algorithm.
func joseSign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, id string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(content)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
