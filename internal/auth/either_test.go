package auth_test

import (
	"errors"
	"testing"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

// TestEither_TheFormDecides shows that a token is tried as one kind only: a JWT that
// somebody listed by its hash isn't taken for a password that never expires.
func TestEither_TheFormDecides(t *testing.T) {
	t.Parallel()
	key, foreign := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, key)
	forged := sign(t, foreign, map[string]any{"alg": "RS256", "kid": key.id}, p.claims(nil))
	expired := p.token(t, key, map[string]any{"exp": 1})
	static, err := auth.NewStatic([]auth.StaticToken{
		{SHA256: auth.Hash("machine-token.with.dots"), Person: seqlease.Person{Name: "machine"}},
		{SHA256: auth.Hash(forged), Person: seqlease.Person{Name: "forger"}},
		{SHA256: auth.Hash(expired), Person: seqlease.Person{Name: "late"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v := auth.Either(static, p.verifier(t, nil))
	for _, tt := range []struct {
		what, token, user string
		want              error
	}{
		{"a listed token", "machine-token.with.dots", "machine", nil},
		{"a JWT", p.token(t, key, nil), "ada", nil},
		{"a forged JWT that is listed", forged, "", auth.ErrBadSignature},
		{"an expired JWT that is listed", expired, "", auth.ErrExpired},
		{"neither", "nonsense", "", auth.ErrMalformed},
		{"nothing", "", "", auth.ErrMalformed},
	} {
		got, err := v.Verify(t.Context(), tt.token)
		if got.Name != tt.user || !errors.Is(err, tt.want) {
			t.Errorf("%s: got %+v, %v; want %q, %v", tt.what, got, err, tt.user, tt.want)
		}
	}
	// What has not the form of a JWT doesn't reach the provider.
	if got := p.asked(); got != 1 {
		t.Errorf("the provider was asked %d times, want once", got)
	}
}

func TestTokenError_IsAnInvalidToken(t *testing.T) {
	t.Parallel()
	if !errors.Is(auth.ErrExpired, auth.ErrInvalidToken) || errors.Is(auth.ErrExpired, auth.ErrMalformed) || errors.Is(auth.ErrUnavailable, auth.ErrInvalidToken) {
		t.Error("the kinds of errors are mixed up")
	}
}
