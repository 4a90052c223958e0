package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

// identity is whom the server believes, and who it says exists.
type identity struct {
	verifier  auth.Verifier
	directory auth.Directory
	provider  *auth.OIDC      // asked for its keys by a loop; nil: none, or it is built in
	issuer    *auth.DevIssuer // nil: none is built in
}

// identity makes the doorkeeper: the listed tokens, and those of the provider or of
// the built-in issuer at the server's origin.
func (c *Config) identity(origin string, logger *slog.Logger) (*identity, error) {
	static, err := c.staticTokens()
	if err != nil {
		return nil, err
	}
	if c.Dev != nil {
		issuer, err := auth.NewDevIssuer(origin, c.Dev.Users, nil)
		if err != nil {
			return nil, err
		}
		return &identity{verifier: auth.Either(static, issuer.Verifier()), directory: auth.Directories{static, issuer}, issuer: issuer}, nil
	}
	o := c.OIDC
	if o == nil {
		return &identity{verifier: static, directory: static}, nil
	}
	provider, err := auth.NewOIDC(auth.OIDCOptions{
		Issuer: o.Issuer, JWKSURL: o.JWKSURL, Audience: o.Audience, Algorithms: o.Algorithms,
		UserClaim: o.UserClaim, RolesClaim: o.RolesClaim, AllowHTTP: o.AllowHTTP, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	return &identity{verifier: auth.Either(static, provider), directory: auth.Directories{static, o.directory()}, provider: provider}, nil
}

// directory is where the provider's users are looked up.
func (o *OIDCConfig) directory() auth.Directory {
	u := o.UserLookup
	if u == nil {
		return auth.AnyUser{}
	}
	return auth.NewKeycloak(auth.KeycloakOptions{URL: u.URL, Realm: u.Realm, Client: u.Client, User: u.User, Password: u.password})
}

// staticTokens are those that the configuration lists.
func (c *Config) staticTokens() (*auth.Static, error) {
	var tokens []auth.StaticToken
	for _, t := range c.Tokens {
		static := auth.StaticToken{Person: seqlease.Person{Name: t.User}}
		if _, err := hex.Decode(static.SHA256[:], []byte(t.SHA256)); err != nil {
			return nil, fmt.Errorf("token of %s: %w", t.User, err)
		}
		for _, role := range t.Roles {
			static.Person.Roles = append(static.Person.Roles, seqlease.Role(role))
		}
		tokens = append(tokens, static)
	}
	return auth.NewStatic(tokens)
}

// handler puts the built-in issuer, if there is one, beside the API, so that clients
// have one origin for both.
func (i *identity) handler(api http.Handler) http.Handler {
	if i.issuer == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, auth.RealmPath) {
			i.issuer.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// run keeps what is known of the provider fresh until ctx ends.
func (i *identity) run(ctx context.Context) error {
	if i.provider == nil {
		return nil
	}
	return i.provider.Run(ctx)
}
