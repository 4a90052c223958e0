package auth

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seqlease/seqlease"
)

// leeway is by how much the clocks of the provider and of this machine may differ
// (protocol §2).
const leeway = 60 * time.Second

// maxUserName is the longest user name in characters, as long as the provider's
// own may be (Keycloak's column has 255).
const maxUserName = 255

// lastInstant is the last second of the year 9999: a later one is no date.
const lastInstant = 253_402_300_799

// rules are what an access token must claim.
type rules struct {
	issuer     string
	audience   string // empty: any
	algorithms []string
	userClaim  string
	rolesClaim []string // the members from the outermost in
}

// check says what of a token that was read, signature apart, keeps it from counting.
func (r *rules) check(t *jwt, now time.Time) error {
	if !slices.Contains(r.algorithms, t.header.Algorithm) {
		return ErrWrongAlgorithm
	}
	if !isAccessToken(t) {
		return ErrWrongType
	}
	if issuer, ok := textOf(t.claims["iss"]); !ok || issuer != r.issuer {
		return ErrWrongIssuer
	}
	if r.audience != "" && !slices.Contains(listOf(t.claims["aud"]), r.audience) {
		return ErrWrongAudience
	}
	return checkTimes(t.claims, now)
}

// isAccessToken tells access tokens from the others that a provider signs with the
// same key. Keycloak names the kind in a claim (Bearer, ID, Refresh, Logout, DPoP),
// RFC 9068 in the header.
func isAccessToken(t *jwt) bool {
	switch strings.TrimPrefix(strings.ToLower(t.header.Type), "application/") {
	case "", "jwt", "at+jwt":
	default:
		return false
	}
	kind, given := t.claims["typ"]
	if !given {
		return true
	}
	text, ok := textOf(kind)
	return ok && strings.EqualFold(text, "Bearer")
}

// checkTimes checks exp, which must be there, and nbf.
func checkTimes(claims map[string]jsontext.Value, now time.Time) error {
	expires, ok := instantOf(claims["exp"])
	if !ok {
		return ErrMalformed
	}
	if !now.Before(expires.Add(leeway)) {
		return ErrExpired
	}
	begins, given := claims["nbf"]
	if !given {
		return nil
	}
	from, ok := instantOf(begins)
	if !ok {
		return ErrMalformed
	}
	if now.Before(from.Add(-leeway)) {
		return ErrNotYetValid
	}
	return nil
}

// person returns who the claims are about. Roles that decide nothing here are left
// out.
func (r *rules) person(claims map[string]jsontext.Value) (seqlease.Person, error) {
	name, ok := textOf(claims[r.userClaim])
	if !ok || !isUserName(name) {
		return seqlease.Person{}, ErrNameless
	}
	p := seqlease.Person{Name: name}
	for _, role := range r.roles(claims) {
		switch role := seqlease.Role(role); role {
		case seqlease.PreprocessingPipeline, seqlease.ExternalMetadataUpdater, seqlease.SuperUser:
			if !p.Has(role) {
				p.Roles = append(p.Roles, role)
			}
		}
	}
	return p, nil
}

// roles returns the list of texts that the claim of roles is; none if it has
// another shape.
func (r *rules) roles(claims map[string]jsontext.Value) []string {
	value := claims[r.rolesClaim[0]]
	for _, member := range r.rolesClaim[1:] {
		var object map[string]jsontext.Value
		if value.Kind() != '{' || json.Unmarshal(value, &object) != nil {
			return nil
		}
		value = object[member]
	}
	if value.Kind() != '[' {
		return nil
	}
	return listOf(value)
}

// isUserName says whether a name can be stored and shown. Names with control
// characters would tear lines of logs and tables apart.
func isUserName(name string) bool {
	return name != "" && seqlease.IsStorable(name) && utf8.RuneCountInString(name) <= maxUserName &&
		strings.IndexFunc(name, unicode.IsControl) < 0 && strings.TrimSpace(name) == name
}

// textOf returns the text that a claim is.
func textOf(claim jsontext.Value) (text string, ok bool) {
	if claim.Kind() != '"' || json.Unmarshal(claim, &text) != nil {
		return "", false
	}
	return text, true
}

// listOf returns the texts that a claim is: one, or a list of nothing else.
func listOf(claim jsontext.Value) []string {
	if text, ok := textOf(claim); ok {
		return []string{text}
	}
	var values []jsontext.Value
	if claim.Kind() != '[' || json.Unmarshal(claim, &values) != nil {
		return nil
	}
	list := make([]string, len(values))
	for i, value := range values {
		text, ok := textOf(value)
		if !ok {
			return nil
		}
		list[i] = text
	}
	return list
}

// instantOf returns the instant of a NumericDate (RFC 7519 §2): seconds since 1970,
// perhaps with a fraction, which is cut.
func instantOf(claim jsontext.Value) (time.Time, bool) {
	var seconds float64
	if claim.Kind() != '0' || json.Unmarshal(claim, &seconds) != nil || seconds < 0 || seconds > lastInstant {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}
