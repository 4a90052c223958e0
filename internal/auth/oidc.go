package auth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seqlease/seqlease"
)

// OIDCOptions say which access tokens count.
type OIDCOptions struct {
	Issuer     string   // as it stands in the tokens
	JWKSURL    string   // where the keys are; empty: where the issuer's discovery document says
	Audience   string   // what a token must be for; empty: anything
	Algorithms []string // of [Algorithms]; none: RS256
	UserClaim  string   // whose value is the user's name; empty: preferred_username
	RolesClaim []string // members that lead to the list of roles; none: realm_access, roles
	AllowHTTP  bool     // keys may be fetched without TLS from elsewhere than this machine
	Logger     *slog.Logger
	Now        func() time.Time // nil: the clock
}

// OIDC checks access tokens that an OpenID Connect provider issued as signed JWTs.
// Nothing that it was told outlives what it was told about: no token is remembered,
// and keys are those that the provider has now, or had when it was last heard of.
type OIDC struct {
	rules rules
	keys  keySource
	now   func() time.Time
}

// NewOIDC returns a verifier of the tokens of a provider, which isn't asked yet.
// Let [OIDC.Run] run beside it.
func NewOIDC(o OIDCOptions) (*OIDC, error) {
	if o.Issuer == "" || o.Logger == nil {
		return nil, errors.New("auth: an option is missing")
	}
	v := newOIDC(o, nil)
	v.keys = newProviderKeys(o, v.now)
	return v, nil
}

func newOIDC(o OIDCOptions, keys keySource) *OIDC {
	v := &OIDC{keys: keys, now: o.Now, rules: rules{
		issuer: o.Issuer, audience: o.Audience, algorithms: o.Algorithms, userClaim: o.UserClaim, rolesClaim: o.RolesClaim,
	}}
	if v.now == nil {
		v.now = time.Now
	}
	if len(v.rules.algorithms) == 0 {
		v.rules.algorithms = []string{"RS256"}
	}
	if v.rules.userClaim == "" {
		v.rules.userClaim = "preferred_username"
	}
	if len(v.rules.rolesClaim) == 0 {
		v.rules.rolesClaim = []string{"realm_access", "roles"}
	}
	return v
}

// Run looks for changed keys until ctx ends, so that a key which the provider has
// withdrawn ends here, too, and that no request waits for keys.
func (o *OIDC) Run(ctx context.Context) error {
	if provider, ok := o.keys.(*providerKeys); ok {
		return provider.run(ctx)
	}
	return nil
}

// Verify returns who the token stands for. What needs no key is checked first, so
// that the provider is asked for keys only for tokens that could be its own. The
// token must be valid now; an answer that takes longer isn't cut.
func (o *OIDC) Verify(ctx context.Context, token string) (seqlease.Person, error) {
	t, err := readJWT(token)
	if err != nil {
		return seqlease.Person{}, err
	}
	if err := o.rules.check(t, o.now()); err != nil {
		return seqlease.Person{}, err
	}
	keys, err := o.keys.candidates(ctx, t.header.Algorithm, t.header.KeyID)
	if err != nil {
		return seqlease.Person{}, err
	}
	if err := verifySignature(token, t, keys); err != nil {
		return seqlease.Person{}, err
	}
	return o.rules.person(t.claims)
}
