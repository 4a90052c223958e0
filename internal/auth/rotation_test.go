package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/auth"
)

func TestOIDC_RotationIsFollowed(t *testing.T) {
	t.Parallel()
	first, second := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, first)
	v := p.verifier(t, nil)
	check := func(what string, k signingKey, want error) {
		t.Helper()
		if _, err := v.Verify(t.Context(), p.token(t, k, nil)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
	check("the first key", first, nil)
	p.has(first, second)
	p.clock.pass(auth.AskAtMostEvery)
	check("a new key is asked for at once", second, nil)
	check("the first key beside it", first, nil)
	if got := p.asked(); got != 2 {
		t.Errorf("asked %d times, want 2", got)
	}

	// The first key is withdrawn: its tokens end with the next look, though they
	// were good before and have time left.
	p.has(second)
	p.clock.pass(auth.AskAtMostEvery)
	if err := v.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("a withdrawn key", first, auth.ErrUnknownKey)
	check("the second key", second, nil)
}

func TestOIDC_BadTokensDontMakeItAsk(t *testing.T) {
	t.Parallel()
	key, foreign := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, key)
	v := p.verifier(t, nil)
	if err := v.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.clock.pass(auth.AskAtMostEvery)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			bad := sign(t, foreign, map[string]any{"alg": "RS256", "kid": strings.Repeat("k", i+1)}, p.claims(nil))
			if _, err := v.Verify(t.Context(), bad); !errors.Is(err, auth.ErrUnknownKey) {
				t.Errorf("bad token %d: %v", i, err)
			}
			if _, err := v.Verify(t.Context(), p.token(t, key, nil)); err != nil {
				t.Errorf("a good token beside it: %v", err)
			}
			wrong := sign(t, foreign, map[string]any{"alg": "RS256", "kid": key.id}, p.claims(nil))
			if _, err := v.Verify(t.Context(), wrong); !errors.Is(err, auth.ErrBadSignature) {
				t.Errorf("a bad signature: %v", err)
			}
		})
	}
	all.Wait()
	if got := p.asked(); got != 2 {
		t.Errorf("50 tokens with unknown keys made it ask %d times, want once", got-1)
	}
	// What can't be the provider's is refused without asking.
	p.clock.pass(auth.AskAtMostEvery)
	for _, claims := range []map[string]any{{"exp": 1}, {"iss": "https://evil.example"}, {"typ": "ID"}} {
		_, err := v.Verify(t.Context(), sign(t, foreign, map[string]any{"alg": "RS256", "kid": "new"}, p.claims(claims)))
		if !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("%v: %v", claims, err)
		}
	}
	if got := p.asked(); got != 2 {
		t.Errorf("it asked %d times more for tokens that can't count", got-2)
	}
}

func TestOIDC_WhileTheProviderIsAway(t *testing.T) {
	t.Parallel()
	key, second := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, key)
	v := p.verifier(t, nil)
	day := map[string]any{"exp": p.clock.Now().Add(72 * time.Hour).Unix()}
	token, unknown := p.token(t, key, day), p.token(t, second, day)
	check := func(what, token string, want error) {
		t.Helper()
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
	p.fails(http.StatusBadGateway)
	check("down from the start", token, auth.ErrUnavailable)
	check("and asked again at once", token, auth.ErrUnavailable)
	check("what is no token, meanwhile", "rubbish", auth.ErrMalformed)
	check("an expired one, meanwhile", p.token(t, key, map[string]any{"exp": 1}), auth.ErrExpired)
	if got := p.fetches["/realms/loculus/.well-known/openid-configuration"]; got != 1 {
		t.Errorf("asked %d times while it is down, want once", got)
	}
	p.works()
	p.clock.pass(auth.AskAtMostEvery)
	check("up again", token, nil)

	p.fails(http.StatusInternalServerError)
	p.clock.pass(auth.AskAtMostEvery)
	check("down, with a known key", token, nil)
	check("down, with an unknown key", unknown, auth.ErrUnavailable)
	p.clock.pass(auth.Outlive - time.Minute)
	check("down for nearly a day", token, nil)
	p.clock.pass(time.Minute)
	check("down for a day", token, auth.ErrUnavailable)
	p.works()
	p.clock.pass(auth.AskAtMostEvery)
	check("up after a day", token, nil)
	check("and the unknown key is one", unknown, auth.ErrUnknownKey)

	log := p.log.String()
	if n := strings.Count(log, "doesn't tell its keys"); n != 2 {
		t.Errorf("the log tells %d times that the provider is away, want 2:\n%s", n, log)
	}
	if n := strings.Count(log, "tells its keys again"); n != 2 {
		t.Errorf("the log tells %d times that it is back, want 2:\n%s", n, log)
	}
	if strings.Contains(log, token) || strings.Contains(log, unknown) {
		t.Error("a token is in the log")
	}
}

func TestOIDC_BadAnswersOfTheProvider(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	reply := func(content string) func(p *provider) {
		return func(p *provider) { p.keySet = func() []byte { return []byte(content) } }
	}
	discovery := func(content string) func(p *provider) {
		return func(p *provider) { p.discovery = func() []byte { return []byte(content) } }
	}
	for name, tt := range map[string]struct {
		change func(p *provider)
		want   string // in the error
	}{
		"no JSON":                {reply("<html>"), "isn't valid JSON"},
		"no keys":                {reply(`{"keys":[]}`), "no public key"},
		"another document":       {reply(`{"error":"x"}`), "no public key"},
		"too many keys":          {reply(`{"keys":[` + strings.Repeat("{},", 100) + `{}]}`), "101 keys"},
		"too much":               {reply(strings.Repeat(" ", auth.MaxDocument+1)), "more than"},
		"discovery is no JSON":   {discovery("<html>"), "isn't a discovery document"},
		"discovery of another":   {discovery(`{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}`), `of the issuer "https://evil.example"`},
		"discovery without keys": {func(p *provider) { p.discovery = func() []byte { return []byte(`{"issuer":"` + p.issuer() + `"}`) } }, "jwks_uri is missing"},
		"keys without TLS": {func(p *provider) {
			p.discovery = func() []byte { return []byte(`{"issuer":"` + p.issuer() + `","jwks_uri":"http://198.51.100.1/keys"}`) }
		}, "without TLS"},
		"keys in a file": {func(p *provider) {
			p.discovery = func() []byte { return []byte(`{"issuer":"` + p.issuer() + `","jwks_uri":"file:///etc/passwd"}`) }
		}, "write a URL"},
		"a redirect": {func(p *provider) {
			p.answer = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return true
			}
		}, "status 302"},
		"an error with a long text": {func(p *provider) {
			p.answer = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(strings.Repeat("secret", 1000)))
				return true
			}
		}, "status 500"},
		"huge headers": {func(p *provider) {
			p.answer = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X", strings.Repeat("x", 1<<20))
				return true
			}
		}, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, key)
			p.change(func() { tt.change(p) })
			_, err := p.verifier(t, nil).Verify(t.Context(), p.token(t, key, nil))
			if !errors.Is(err, auth.ErrUnavailable) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want unavailable and %q", err, tt.want)
			}
		})
	}
}

func TestOIDC_AProviderThatHangs(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	asked := make(chan struct{}, 10)
	release := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	p.change(func() {
		p.answer = func(_ http.ResponseWriter, r *http.Request) bool {
			asked <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return true
		}
	})
	v := p.verifier(t, nil)
	first := make(chan error, 1)
	go func() {
		_, err := v.Verify(t.Context(), p.token(t, key, nil))
		first <- err
	}()
	<-asked
	// One that waits with it leaves when its client does.
	leaving, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Verify(leaving, p.token(t, key, nil)); !errors.Is(err, auth.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	p.CloseClientConnections()
	if err := <-first; !errors.Is(err, auth.ErrUnavailable) {
		t.Errorf("got %v", err)
	}

	p.clock.pass(auth.AskAtMostEvery)
	v.SetFetchTimeout(50 * time.Millisecond)
	if _, err := v.Verify(t.Context(), p.token(t, key, nil)); !errors.Is(err, auth.ErrUnavailable) {
		t.Errorf("after the timeout: got %v", err)
	}
}

// TestOIDC_AClientThatLeavesDoesntEndTheQuestion: others wait for the same keys.
func TestOIDC_AClientThatLeavesDoesntEndTheQuestion(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	v := p.verifier(t, nil)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Verify(gone, p.token(t, key, nil)); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestOIDC_RunAsksAtOnceAndEnds(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	told := make(chan struct{}, 1)
	keySet := p.keySet
	p.change(func() {
		p.keySet = func() []byte {
			told <- struct{}{}
			return keySet()
		}
	})
	v := p.verifier(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	<-told
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://login.example.org/realms/x": "", "http://127.0.0.1:8083/realms/x": "", "http://localhost/x": "", "http://[::1]:1/x": "",
		"http://login.example.org": "without TLS", "http://127.0.0.1.example.org": "without TLS", "http://0.0.0.0/": "without TLS",
		"": "write a URL", "login.example.org": "write a URL", "ftp://x": "write a URL", "https://": "write a URL", "://": "write a URL",
		"https://u:p@x": "no user", "https://x?y=1": "no user", "https://x#y": "no user",
	} {
		err := auth.CheckURL(url, false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", url, err, want)
		}
	}
	if err := auth.CheckURL("http://keycloak:8083/realms/x", true); err != nil {
		t.Errorf("allowed: %v", err)
	}
}
