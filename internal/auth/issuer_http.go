package auth

import (
	"context"
	"net/http"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a request to the token endpoint.
const (
	maxForm     = 32 << 10
	formTimeout = 10 * time.Second
)

// grant is a good answer of the token endpoint (RFC 6749 §5.1), with Keycloak's
// members.
type grant struct {
	AccessToken      string `json:"access_token"`
	ExpiresIn        int64  `json:"expires_in"`
	RefreshExpiresIn int64  `json:"refresh_expires_in"`
	RefreshToken     string `json:"refresh_token"`
	TokenType        string `json:"token_type"`
	NotBeforePolicy  int    `json:"not-before-policy"`
	SessionState     string `json:"session_state"`
	Scope            string `json:"scope"`
}

// grantError is a bad one (RFC 6749 §5.2).
type grantError struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// discoveryDocument is what of OpenID Connect Discovery 1.0 §3 there is: a token
// endpoint, and no page to log in at.
type discoveryDocument struct {
	Issuer            string   `json:"issuer"`
	TokenEndpoint     string   `json:"token_endpoint"`
	JWKSURI           string   `json:"jwks_uri"`
	GrantTypes        []string `json:"grant_types_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	SubjectTypes      []string `json:"subject_types_supported"`
	SigningAlgorithms []string `json:"id_token_signing_alg_values_supported"`
	AuthMethods       []string `json:"token_endpoint_auth_methods_supported"`
	Scopes            []string `json:"scopes_supported"`
	Claims            []string `json:"claims_supported"`
}

// ServeHTTP serves what is below [RealmPath]: the discovery document, the keys and
// the token endpoint, for pages of any origin.
func (d *DevIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	const protocol = RealmPath + "protocol/openid-connect/"
	switch r.URL.Path {
	case RealmPath + ".well-known/openid-configuration":
		d.read(w, r, discoveryDocument{
			Issuer: d.issuer, TokenEndpoint: d.issuer + "/protocol/openid-connect/token", JWKSURI: d.issuer + "/protocol/openid-connect/certs",
			GrantTypes: []string{"password", "refresh_token"}, ResponseTypes: []string{}, SubjectTypes: []string{"public"},
			SigningAlgorithms: []string{"RS256"}, AuthMethods: []string{"none"}, Scopes: []string{"openid", "profile", "email"},
			Claims: []string{"iss", "sub", "aud", "exp", "iat", "preferred_username", "realm_access"},
		})
	case protocol + "certs":
		d.read(w, r, jsontext.Value(d.keySet))
	case protocol + "token":
		d.serveToken(w, r)
	default:
		answerJSON(w, http.StatusNotFound, grantError{Code: "not_found", Description: "the built-in issuer has nothing here"})
	}
}

// read answers GET and HEAD with a document.
func (d *DevIssuer) read(w http.ResponseWriter, r *http.Request, document any) {
	if !allows(w, r, http.MethodGet, http.MethodHead) {
		return
	}
	answerJSON(w, http.StatusOK, document)
}

// serveToken answers the password and the refresh grant.
func (d *DevIssuer) serveToken(w http.ResponseWriter, r *http.Request) {
	if !allows(w, r, http.MethodPost) {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout)) // where there is no connection, nobody is waited for
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		answerError(w, grantError{http.StatusBadRequest, "invalid_request", "the body must be a form of at most 32 KB"})
		return
	}
	u, refusal := d.user(r)
	if refusal != nil {
		answerError(w, *refusal)
		return
	}
	access, refresh, err := d.tokensOf(u)
	if err != nil {
		answerError(w, grantError{http.StatusInternalServerError, "server_error", "no token could be signed"})
		return
	}
	answerJSON(w, http.StatusOK, grant{
		AccessToken: access, ExpiresIn: int64(accessLifetime / time.Second),
		RefreshToken: refresh, RefreshExpiresIn: int64(refreshLifetime / time.Second),
		TokenType: typeBearer, SessionState: randomID(), Scope: devScope,
	})
}

// user returns whom the form gives proof of being. Only the body counts: what is in
// the address ends in logs.
func (d *DevIssuer) user(r *http.Request) (devUser, *grantError) {
	form := r.PostForm
	if form.Get("client_id") != devClient {
		return devUser{}, &grantError{http.StatusUnauthorized, "invalid_client", "Invalid client or Invalid client credentials"}
	}
	switch form.Get("grant_type") {
	case "password":
		return d.byPassword(form.Get("username"), form.Get("password"))
	case "refresh_token":
		if u, ok := d.refreshed(form.Get("refresh_token")); ok {
			return u, nil
		}
		return devUser{}, &grantError{http.StatusBadRequest, "invalid_grant", "Invalid refresh token"}
	case "":
		return devUser{}, &grantError{http.StatusBadRequest, "invalid_request", "Missing form parameter: grant_type"}
	default:
		return devUser{}, &grantError{http.StatusBadRequest, "unsupported_grant_type", "Unsupported grant_type"}
	}
}

// byPassword bounds how often wrong passwords may be tried.
func (d *DevIssuer) byPassword(name, password string) (devUser, *grantError) {
	account := name
	if _, found := d.users[name]; !found {
		account = "" // all that don't exist are one
	}
	undo, allowed := d.attempts.begin(account)
	if !allowed {
		return devUser{}, &grantError{http.StatusTooManyRequests, "invalid_grant", "too many wrong passwords; try again in a minute"}
	}
	u, right := d.login(name, password)
	if !right {
		return devUser{}, &grantError{http.StatusUnauthorized, "invalid_grant", "Invalid user credentials"}
	}
	undo()
	return u, nil
}

// KnowsUser says whether the issuer has the user.
func (d *DevIssuer) KnowsUser(_ context.Context, name string) (bool, error) {
	_, known := d.users[name]
	return known, nil
}

// allows answers preflights and methods that the path doesn't take.
func allows(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
		w.Header().Add("Allow", m)
	}
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS, HEAD")
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	answerError(w, grantError{http.StatusMethodNotAllowed, "invalid_request", "the path doesn't take " + r.Method})
	return false
}

func answerError(w http.ResponseWriter, e grantError) {
	if e.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(int(attemptWindow/time.Second)))
	}
	answerJSON(w, e.status, e)
}

func answerJSON(w http.ResponseWriter, status int, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON that is declared as such, and nosniff; a client that left finds out by itself
}
