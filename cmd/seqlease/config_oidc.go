package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seqlease/seqlease/internal/auth"
)

// OIDCConfig says which access tokens of an OpenID Connect provider count, beside
// the tokens that are listed.
type OIDCConfig struct {
	Issuer     string         `yaml:"issuer"`     // as it stands in the tokens
	JWKSURL    string         `yaml:"jwksUrl"`    // empty: discovered
	Audience   string         `yaml:"audience"`   // empty: any
	Algorithms []string       `yaml:"algorithms"` // empty: RS256
	UserClaim  string         `yaml:"userClaim"`  // empty: preferred_username
	RolesClaim claimPath      `yaml:"rolesClaim"` // empty: realm_access.roles
	AllowHTTP  bool           `yaml:"allowHttp"`
	UserLookup *KeycloakUsers `yaml:"userLookup"` // nil: any name may be a user's
}

// KeycloakUsers says how users are looked up through Keycloak's admin API.
type KeycloakUsers struct {
	URL         string `yaml:"url"`         // of the server; empty: as the issuer
	Realm       string `yaml:"realm"`       // empty: as the issuer
	Client      string `yaml:"client"`      // empty: backend-client
	User        string `yaml:"user"`        // a technical user that may view users
	PasswordEnv string `yaml:"passwordEnv"` // the environment variable with its password

	password string
}

// The technical user's defaults (protocol §10.1).
const (
	defaultLookupClient = "backend-client"
	defaultLookupUser   = "backend"
)

// claimPath is the members that lead to a claim from the outermost in. A text is
// split at its dots; a list is for names that have dots of their own.
type claimPath []string

// UnmarshalYAML reads either form.
func (p *claimPath) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err == nil {
		*p = strings.Split(text, ".")
		return nil
	}
	var list []string
	if err := unmarshal(&list); err != nil {
		return errors.New("write a claim such as realm_access.roles, or a list of the members that lead to it")
	}
	*p = list
	return nil
}

// keycloakIssuer is the form of the issuers of Keycloak's realms.
var keycloakIssuer = regexp.MustCompile(`^(.+)/realms/([^/]+)$`)

// base is what is above /realms/… of the provider, as people reach it; empty if its
// issuer has another form.
func (o *OIDCConfig) base() string {
	if parts := keycloakIssuer.FindStringSubmatch(o.Issuer); parts != nil {
		return parts[1]
	}
	return ""
}

// resolve fills in what the issuer says, and the password.
func (u *KeycloakUsers) resolve(issuer string, lookup func(string) (string, bool)) []string {
	if parts := keycloakIssuer.FindStringSubmatch(issuer); parts != nil {
		u.URL, u.Realm = orElse(u.URL, parts[1]), orElse(u.Realm, parts[2])
	}
	u.Client, u.User = orElse(u.Client, defaultLookupClient), orElse(u.User, defaultLookupUser)
	if u.PasswordEnv == "" {
		return []string{"oidc.userLookup.passwordEnv is missing: it names the environment variable with the password of " + u.User}
	}
	if u.password, _ = lookup(u.PasswordEnv); u.password == "" {
		return []string{fmt.Sprintf("oidc.userLookup: the environment variable %s is not set; it should hold the password of %q", u.PasswordEnv, u.User)}
	}
	return nil
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// oidcFaults says what is wrong with the provider's part.
func (c *Config) oidcFaults() []string {
	o := c.OIDC
	if o == nil {
		return nil
	}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, "oidc."+fmt.Sprintf(format, args...)) }
	checkURL := func(member, url string) {
		if err := auth.CheckURL(url, o.AllowHTTP); err != nil {
			fault("%s: %v", member, err)
		}
	}
	if o.Issuer == "" {
		fault("issuer is missing: the value of `iss` in the tokens, such as https://login.example.org/realms/loculus")
	} else {
		checkURL("issuer", o.Issuer)
	}
	if o.JWKSURL != "" {
		checkURL("jwksUrl", o.JWKSURL)
	}
	for _, algorithm := range o.Algorithms {
		if !slices.Contains(auth.Algorithms(), algorithm) {
			fault("algorithms: %q is none of %s", algorithm, strings.Join(auth.Algorithms(), ", "))
		}
	}
	if slices.Contains(o.RolesClaim, "") {
		fault("rolesClaim has an empty member")
	}
	if u := o.UserLookup; u != nil {
		if u.Realm == "" {
			fault("userLookup.realm is missing, and the issuer isn't of the form …/realms/REALM that would tell it")
		}
		if u.URL == "" {
			fault("userLookup.url is missing, and the issuer isn't of the form …/realms/REALM that would tell it")
		} else {
			checkURL("userLookup.url", u.URL)
		}
	}
	return faults
}

// resolveSecrets replaces the names of environment variables by what is in them.
func (c *Config) resolveSecrets(lookup func(string) (string, bool)) []string {
	faults := c.resolveTokens(lookup)
	if c.OIDC != nil && c.OIDC.UserLookup != nil {
		faults = append(faults, c.OIDC.UserLookup.resolve(c.OIDC.Issuer, lookup)...)
	}
	return faults
}
