package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqlease/seqlease/internal/auth"
)

// issued is an issuer of tokens whose clock passes when the test says so.
type issued struct {
	issuer *auth.DevIssuer
	mu     sync.Mutex
	ahead  time.Duration
}

func newIssued(t *testing.T) *issued {
	t.Helper()
	i := &issued{}
	users := auth.DevUsers()
	for n := range users {
		users[n].Password = "password"
	}
	var err error
	if i.issuer, err = auth.NewDevIssuer("http://127.0.0.1:1", users, i.now); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *issued) now() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return time.Now().Add(i.ahead)
}

func (i *issued) pass(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ahead += d
}

// token logs the user in.
func (i *issued) token(t *testing.T, user string) string {
	t.Helper()
	form := url.Values{"client_id": {"backend-client"}, "grant_type": {"password"}, "username": {user}, "password": {"password"}}
	r := httptest.NewRequest(http.MethodPost, "/realms/loculus/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	i.issuer.ServeHTTP(w, r)
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &grant); err != nil || grant.AccessToken == "" {
		t.Fatalf("%s: %d %s", user, w.Code, w.Body)
	}
	return grant.AccessToken
}

// either takes the tokens of the other tests, too.
func (i *issued) either(t *testing.T) auth.Verifier {
	t.Helper()
	return auth.Either(tokens(t), i.issuer.Verifier())
}

// wantRefusedToken checks an answer to a token that doesn't count.
func wantRefusedToken(t *testing.T, what string, a answer, reason string) {
	t.Helper()
	header := a.Header.Get("WWW-Authenticate")
	want := fmt.Sprintf("Bearer error=%q, error_description=%q, error_uri=", "invalid_token", reason)
	if a.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(header, want) || len(a.body) != 0 {
		t.Errorf("%s: got %d, %q, %q; want 401, %s… and no body", what, a.StatusCode, header, a.body, want)
	}
}

func TestToken_RefusalsAsTheProtocolHasThem(t *testing.T) {
	t.Parallel()
	const undecodable = "An error occurred while attempting to decode the Jwt: Malformed token"
	i := newIssued(t)
	onBothStores(t, doorOptions{verifier: i.either(t)}, func(t *testing.T, d *door) {
		t.Helper()
		good, other := i.token(t, "testuser"), newIssued(t).token(t, "testuser")
		old := newIssued(t)
		old.pass(-11 * time.Hour)
		parts := strings.Split(good, ".")
		sent := []string{good}
		for _, path := range []string{"/user/groups", "/zika/get-released-data", "/healthz", "/nowhere/nothing"} {
			for what, tt := range map[string]struct{ token, reason string }{
				"rubbish":          {"rubbish-of-a-token", undecodable},
				"a stripped token": {parts[0] + "." + parts[1] + ".", undecodable},
				"a foreign key":    {other, string(auth.ErrUnknownKey)},
				"a changed claim":  {parts[0] + "." + parts[1][:40] + "A" + parts[1][41:] + "." + parts[2], ""},
			} {
				a := d.call(t, "GET", path, tt.token, nil)
				if sent = append(sent, tt.token); tt.reason == "" {
					if a.StatusCode != http.StatusUnauthorized || len(a.body) != 0 {
						t.Errorf("%s, %s: got %d, %q", path, what, a.StatusCode, a.body)
					}
					continue
				}
				wantRefusedToken(t, path+", "+what, a, tt.reason)
			}
			twice, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			twice.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + good}
			wantRefusedToken(t, path+", two headers", roundTrip(t, twice), undecodable)
			twice.Header["Authorization"] = []string{"Basic YTpi", "Bearer " + good}
			wantRefusedToken(t, path+", two schemes", roundTrip(t, twice), undecodable)
		}
		d.call(t, "GET", "/user/groups", good, nil).want(t, 200)
		d.call(t, "POST", "/user/groups", "rubbish", nil).want(t, 401) // a bad token is told before anything else
		log := d.log.String()
		for _, token := range sent {
			for _, part := range strings.Split(token, ".") {
				if part != "" && strings.Contains(log, part) {
					t.Errorf("the log has %.20s… of a token", part)
				}
			}
		}
		if !strings.Contains(log, "token refused") || !strings.Contains(log, "user=testuser") {
			t.Error("the log says neither that tokens were refused nor who called")
		}
	})
}

func roundTrip(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, content}
}

func TestToken_RolesComeFromTheToken(t *testing.T) {
	t.Parallel()
	i := newIssued(t)
	d := newDoor(t, doorOptions{verifier: i.either(t)})
	claim := func(user string) answer {
		return d.call(t, "POST", "/zika/extract-unprocessed-data?numberOfSequenceEntries=1&pipelineVersion=1", i.token(t, user), nil)
	}
	claim("preprocessing_pipeline").want(t, 200)
	for _, user := range []string{"testuser", "superuser", "external_metadata_updater", "insdc_ingest_user"} {
		a := claim(user)
		if got := a.Header.Get("WWW-Authenticate"); a.StatusCode != http.StatusForbidden || len(a.body) != 0 || !strings.HasPrefix(got, `Bearer error="insufficient_scope"`) {
			t.Errorf("%s: got %d, %q, %q", user, a.StatusCode, got, a.body)
		}
	}
	group := d.newGroup(t, i.token(t, "testuser"))
	refused := d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), i.token(t, "otheruser"), nil, "Content-Type", "multipart/form-data; boundary=x")
	if refused.StatusCode == http.StatusOK {
		t.Error("another user submits for the group")
	}
}

// TestToken_WhileTheProviderIsAway checks that a token which can't be checked isn't
// called a bad one, and that the other tokens go on working.
func TestToken_WhileTheProviderIsAway(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	provider, err := auth.NewOIDC(auth.OIDCOptions{Issuer: "http://127.0.0.1:1/realms/loculus", JWKSURL: gone.URL, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	token := newIssued(t).token(t, "testuser")
	d := newDoor(t, doorOptions{verifier: auth.Either(tokens(t), provider)})
	for _, path := range []string{"/user/groups", "/zika/get-released-data"} {
		a := d.call(t, "GET", path, token, nil)
		p := a.problem(t, 503)
		if p.Type != "urn:seqlease:problem:busy" || a.Header.Get("Retry-After") == "" || a.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: got %+v, %v", path, p, a.Header)
		}
	}
	d.call(t, "GET", "/user/groups", "rubbish", nil).want(t, 401)
	d.call(t, "GET", "/user/groups", anna, nil).want(t, 200)
	d.call(t, "GET", "/zika/get-released-data", "", nil).want(t, 200)
	if strings.Contains(d.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// TestToken_S14_ARequestOutlivesItsToken: the token must be good when the request
// comes, not while its body comes in and its answer goes out.
func TestToken_S14_ARequestOutlivesItsToken(t *testing.T) {
	t.Parallel()
	i := newIssued(t)
	d := newDoor(t, doorOptions{verifier: i.either(t)})
	testuser, pipeline := i.token(t, "testuser"), i.token(t, "preprocessing_pipeline")

	// The body is asked for once the caller was.
	body := `{"groupName":"Lab","institution":"I","address":{"line1":"1","line2":"","city":"c","state":"","postalCode":"","country":"CH"},"contactEmail":"a@b"}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/groups",
		io.MultiReader(afterwards(func() { i.pass(11 * time.Hour) }), strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + testuser}, "Content-Type": {"application/json"}, "Expect": {"100-continue"}}
	transport := &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("a body that came while the token expired: got %d", response.StatusCode)
	}
	wantRefusedToken(t, "the next request", d.call(t, "GET", "/user/groups", testuser, nil), string(auth.ErrExpired))
	wantRefusedToken(t, "the pipeline", d.call(t, "GET", "/user/groups", pipeline, nil), string(auth.ErrExpired))

	// An answer that is larger than what lies between the two is being sent while the
	// token expires.
	const entries, length = 100, 60_000
	d.submit(t, d.newGroup(t, anna), entries, length)
	claim, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		d.url+fmt.Sprintf("/zika/extract-unprocessed-data?numberOfSequenceEntries=%d&pipelineVersion=1", entries), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	claim.Header.Set("Authorization", "Bearer "+i.token(t, "preprocessing_pipeline"))
	if response, err = transport.RoundTrip(claim); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer := bufio.NewReader(response.Body)
	if _, err := answer.Peek(1); err != nil {
		t.Fatal(err)
	}
	i.pass(11 * time.Hour)
	content, err := io.ReadAll(answer)
	if lines := bytes.Count(content, []byte("\n")); err != nil || lines != entries {
		t.Errorf("%d of %d lines, %v", lines, entries, err)
	}
}

// afterwards is a reader that holds nothing and does something when it is read.
type afterwards func()

func (f afterwards) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}
