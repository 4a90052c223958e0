package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"golang.org/x/sync/singleflight"
)

// KeycloakOptions say where Keycloak's users can be looked up, and by whom.
type KeycloakOptions struct {
	URL      string // of the server, such as https://login.example.org
	Realm    string
	Client   string // a public client with the direct access grant
	User     string // a technical user with the role view-users of realm-management
	Password string
	Now      func() time.Time // nil: the clock
}

// Keycloak is the directory of a realm, asked through Keycloak's admin API as its
// technical user. The token for that is kept until shortly before it expires.
type Keycloak struct {
	options KeycloakOptions
	web     *web
	logins  singleflight.Group

	mu      sync.Mutex
	token   string
	goodFor time.Time // until when the token is used
}

// tokenReserve is how long before its end a token isn't used any more.
const tokenReserve = 30 * time.Second

// NewKeycloak returns the directory, which isn't asked yet.
func NewKeycloak(o KeycloakOptions) *Keycloak {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	return &Keycloak{options: o, web: newWeb()}
}

// KnowsUser searches the realm for a user of exactly that name.
func (k *Keycloak) KnowsUser(ctx context.Context, name string) (bool, error) {
	if !isUserName(name) {
		return false, nil // nobody has such a name, and there is no need to ask
	}
	known, err := k.search(ctx, name)
	var status *statusError
	if errors.As(err, &status) && status.status == http.StatusUnauthorized {
		k.forget() // the token was withdrawn, as a restart of Keycloak may do
		known, err = k.search(ctx, name)
	}
	if err != nil {
		return false, fmt.Errorf("%w: look for a user: %w", ErrUnavailable, err)
	}
	return known, nil
}

func (k *Keycloak) search(ctx context.Context, name string) (bool, error) {
	token, err := k.login(ctx)
	if err != nil {
		return false, err
	}
	query := url.Values{"username": {name}, "exact": {"true"}, "briefRepresentation": {"true"}, "max": {"10"}}
	content, err := k.web.get(ctx, k.options.URL+"/admin/realms/"+url.PathEscape(k.options.Realm)+"/users?"+query.Encode(), token)
	if err != nil {
		return false, err
	}
	var users []struct {
		Username string `json:"username"`
	}
	if err := json.Unmarshal(content, &users); err != nil {
		return false, errors.New("the answer isn't a list of users in JSON")
	}
	for _, u := range users {
		if u.Username == name { // whatever this version of Keycloak takes for exact
			return true, nil
		}
	}
	return false, nil
}

// login returns a token of the technical user. Requests that need a new one at the
// same time ask for it together.
func (k *Keycloak) login(ctx context.Context) (string, error) {
	if token := k.kept(); token != "" {
		return token, nil
	}
	token, err, _ := k.logins.Do("", func() (any, error) { return k.newToken(context.WithoutCancel(ctx)) })
	if err != nil {
		return "", fmt.Errorf("log in as the technical user %q: %w", k.options.User, err)
	}
	return token.(string), nil
}

func (k *Keycloak) newToken(ctx context.Context) (string, error) {
	content, err := k.web.post(ctx, k.options.URL+"/realms/"+url.PathEscape(k.options.Realm)+"/protocol/openid-connect/token", url.Values{
		"client_id": {k.options.Client}, "grant_type": {"password"}, "username": {k.options.User}, "password": {k.options.Password},
	})
	if err != nil {
		return "", err
	}
	var grant struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	if err := json.Unmarshal(content, &grant); err != nil || grant.AccessToken == "" {
		return "", errors.New("the answer has no access_token")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token = grant.AccessToken
	k.goodFor = k.options.Now().Add(time.Duration(grant.ExpiresIn*float64(time.Second)) - tokenReserve)
	return k.token, nil
}

// kept returns the token that is still good; empty if there is none.
func (k *Keycloak) kept() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.options.Now().Before(k.goodFor) {
		return k.token
	}
	return ""
}

func (k *Keycloak) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token = ""
}
