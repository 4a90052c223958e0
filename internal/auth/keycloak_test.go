package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

// keycloak is a stand-in for Keycloak's admin API: it gives the technical user a
// token and finds users, without regard to case as Keycloak does.
type keycloak struct {
	*provider
	users            []string
	logins, searches atomic.Int64
	valid            atomic.Int64 // number of the token that counts
	status           atomic.Int64 // instead of 200
	lifetime         int
}

func newKeycloak(t *testing.T, users ...string) *keycloak {
	t.Helper()
	k := &keycloak{provider: newProvider(t), users: users, lifetime: 300}
	k.change(func() { k.answer = k.serve })
	return k
}

func (k *keycloak) serve(w http.ResponseWriter, r *http.Request) bool {
	defer drain(r)
	if status := k.status.Load(); status != 0 {
		w.WriteHeader(int(status))
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/realms/loculus/protocol/openid-connect/token":
		if r.FormValue("client_id") != "backend-client" || r.FormValue("grant_type") != "password" || r.FormValue("username") != "backend" || r.PostFormValue("password") != "hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		k.valid.Store(k.logins.Add(1))
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "token-" + strings.Repeat("i", int(k.valid.Load())), "expires_in": k.lifetime})
	case "/admin/realms/loculus/users":
		k.searches.Add(1)
		if r.Header.Get("Authorization") != "Bearer token-"+strings.Repeat("i", int(k.valid.Load())) {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		found := []map[string]any{}
		for _, u := range k.users {
			if strings.EqualFold(u, r.FormValue("username")) && r.FormValue("exact") == "true" {
				found = append(found, map[string]any{"id": "1", "username": u, "enabled": true})
			}
		}
		_ = json.NewEncoder(w).Encode(found)
	default:
		return false
	}
	return true
}

func (k *keycloak) directory(change func(*auth.KeycloakOptions)) *auth.Keycloak {
	o := auth.KeycloakOptions{URL: k.URL + "/", Realm: "loculus", Client: "backend-client", User: "backend", Password: "hunter2", Now: k.clock.Now}
	if change != nil {
		change(&o)
	}
	return auth.NewKeycloak(o)
}

func TestKeycloak_KnowsExactlyItsUsers(t *testing.T) {
	t.Parallel()
	k := newKeycloak(t, "ada", "zoë & co", "admin?x=1")
	d := k.directory(nil)
	for name, want := range map[string]bool{
		"ada": true, "zoë & co": true, "admin?x=1": true,
		"ad": false, "ADA": false, "bob": false, "": false, "*": false, "%": false, "a\x00": false, strings.Repeat("x", 256): false,
	} {
		if known, err := d.KnowsUser(t.Context(), name); known != want || err != nil {
			t.Errorf("%q: got %v, %v; want %v", name, known, err, want)
		}
	}
	if got := k.logins.Load(); got != 1 {
		t.Errorf("%d logins, want 1", got)
	}
}

func TestKeycloak_RenewsItsToken(t *testing.T) {
	t.Parallel()
	k := newKeycloak(t, "ada")
	d := k.directory(nil)
	know := func(what string, logins int64) {
		t.Helper()
		if known, err := d.KnowsUser(t.Context(), "ada"); !known || err != nil {
			t.Errorf("%s: got %v, %v", what, known, err)
		}
		if got := k.logins.Load(); got != logins {
			t.Errorf("%s: %d logins, want %d", what, got, logins)
		}
	}
	know("at first", 1)
	k.clock.pass(269 * time.Second)
	know("while it is good", 1)
	k.clock.pass(time.Second)
	know("shortly before it expires", 2)
	k.valid.Add(100) // Keycloak was restarted and knows the token no more
	know("after it was withdrawn", 3)

	var all sync.WaitGroup
	k.clock.pass(time.Hour)
	for range 20 {
		all.Go(func() {
			if known, err := d.KnowsUser(t.Context(), "ada"); !known || err != nil {
				t.Errorf("many at once: %v, %v", known, err)
			}
		})
	}
	all.Wait()
	if got := k.logins.Load(); got > 5 {
		t.Errorf("%d logins for 20 questions at once", got-3)
	}
}

func TestKeycloak_SaysThatItCantBeAsked(t *testing.T) {
	t.Parallel()
	k := newKeycloak(t, "ada")
	for _, status := range []int64{401, 403, 404, 500, 503} {
		k.status.Store(status)
		known, err := k.directory(nil).KnowsUser(t.Context(), "ada")
		if known || !errors.Is(err, auth.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%d: got %v, %v", status, known, err)
		}
	}
	k.status.Store(0)
	known, err := k.directory(func(o *auth.KeycloakOptions) { o.Password = "wrong-one" }).KnowsUser(t.Context(), "ada")
	if known || !errors.Is(err, auth.ErrUnavailable) || !strings.Contains(err.Error(), `technical user "backend"`) || strings.Contains(err.Error(), "wrong-one") {
		t.Errorf("a wrong password: got %v, %v", known, err)
	}
	for path, content := range map[string]string{"users": `{"error":"x"}`, "token": `{"expires_in":1}`} {
		k := newKeycloak(t, "ada")
		k.change(func() {
			k.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, path) {
					_, _ = w.Write([]byte(content))
					return true
				}
				return k.serve(w, r)
			}
		})
		if known, err := k.directory(nil).KnowsUser(t.Context(), "ada"); known || !errors.Is(err, auth.ErrUnavailable) {
			t.Errorf("a strange answer for %s: got %v, %v", path, known, err)
		}
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	k := newKeycloak(t, "ada")
	static, err := auth.NewStatic([]auth.StaticToken{{SHA256: auth.Hash("x"), Person: seqlease.Person{Name: "machine"}}})
	if err != nil {
		t.Fatal(err)
	}
	all := auth.Directories{static, k.directory(nil), auth.AnyUser{}}
	if known, err := all.KnowsUser(t.Context(), "bob"); !known || err != nil {
		t.Errorf("anybody: %v, %v", known, err)
	}
	if known, err := all[:1].KnowsUser(t.Context(), "machine"); !known || err != nil {
		t.Errorf("the user of a listed token: %v, %v", known, err)
	}
	if known, err := all.KnowsUser(t.Context(), "b\x00b"); known || err != nil {
		t.Errorf("nobody: %v, %v", known, err)
	}
	k.status.Store(500)
	if known, err := all.KnowsUser(t.Context(), "bob"); !known || err != nil {
		t.Errorf("one can't be asked, another knows: %v, %v", known, err)
	}
	if known, err := all[:2].KnowsUser(t.Context(), "bob"); known || !errors.Is(err, auth.ErrUnavailable) {
		t.Errorf("one can't be asked, no other knows: %v, %v", known, err)
	}
}
