package auth_test

import (
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/auth"
)

func TestOIDC_GoodTokens(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	ada := seqlease.Person{Name: "ada"}
	superAda := seqlease.Person{Name: "ada", Roles: []seqlease.Role{seqlease.SuperUser}}
	roles := func(list any) map[string]any { return map[string]any{"realm_access": map[string]any{"roles": list}} }
	now := p.clock.Now().Unix()
	for name, tt := range map[string]struct {
		options func(*auth.OIDCOptions)
		header  map[string]any
		claims  map[string]any
		want    seqlease.Person
	}{
		"as Keycloak makes them":        {want: superAda},
		"keys at a configured address":  {options: func(o *auth.OIDCOptions) { o.JWKSURL = p.certs() }, want: superAda},
		"each role, twice, and others":  {claims: roles([]string{"x", "external_metadata_updater", "super_user", "preprocessing_pipeline", "super_user"}), want: seqlease.Person{Name: "ada", Roles: []seqlease.Role{seqlease.ExternalMetadataUpdater, seqlease.SuperUser, seqlease.PreprocessingPipeline}}},
		"no roles":                      {claims: roles([]string{}), want: ada},
		"no claim of roles":             {claims: map[string]any{"realm_access": nil}, want: ada},
		"roles are a text":              {claims: roles("super_user"), want: ada},
		"roles are numbers":             {claims: roles([]any{1, 2}), want: ada},
		"roles are texts and a number":  {claims: roles([]any{"super_user", 1}), want: ada},
		"roles are lists":               {claims: roles([]any{[]string{"super_user"}}), want: ada},
		"roles are an object":           {claims: roles(map[string]any{"super_user": true}), want: ada},
		"roles lie elsewhere":           {claims: map[string]any{"realm_access": []string{"super_user"}, "roles": []string{"super_user"}}, want: ada},
		"roles in another spelling":     {claims: roles([]string{"SUPER_USER", "super_user "}), want: ada},
		"a configured claim of roles":   {options: func(o *auth.OIDCOptions) { o.RolesClaim = []string{"https://a.b/roles"} }, claims: map[string]any{"https://a.b/roles": []string{"super_user"}}, want: superAda},
		"roles of a client":             {options: func(o *auth.OIDCOptions) { o.RolesClaim = []string{"resource_access", "a.b", "roles"} }, claims: map[string]any{"realm_access": nil, "resource_access": map[string]any{"a.b": map[string]any{"roles": []string{"super_user"}}}}, want: superAda},
		"a configured claim of users":   {options: func(o *auth.OIDCOptions) { o.UserClaim = "email" }, claims: map[string]any{"email": "ada@b.c", "realm_access": nil}, want: seqlease.Person{Name: "ada@b.c"}},
		"the audience as a text":        {options: func(o *auth.OIDCOptions) { o.Audience = "account" }, want: superAda},
		"the audience in a list":        {options: func(o *auth.OIDCOptions) { o.Audience = "seqlease" }, claims: map[string]any{"aud": []string{"a", "seqlease"}}, want: superAda},
		"no kid, and there is one key":  {header: map[string]any{"alg": "RS256"}, want: superAda},
		"of the type of RFC 9068":       {header: map[string]any{"alg": "RS256", "kid": key.id, "typ": "application/at+JWT"}, claims: map[string]any{"typ": nil}, want: superAda},
		"expired within the leeway":     {claims: map[string]any{"exp": now - 59}, want: superAda},
		"not yet valid, within leeway":  {claims: map[string]any{"nbf": now + 60}, want: superAda},
		"with a fraction of a second":   {claims: map[string]any{"exp": float64(now) + 7.5}, want: superAda},
		"without end, nearly":           {claims: map[string]any{"exp": int64(253402300799)}, want: superAda},
		"a name with blanks and umlaut": {claims: map[string]any{"preferred_username": "Zoë O'Neil", "realm_access": nil}, want: seqlease.Person{Name: "Zoë O'Neil"}},
		"the longest name":              {claims: map[string]any{"preferred_username": strings.Repeat("ü", 255), "realm_access": nil}, want: seqlease.Person{Name: strings.Repeat("ü", 255)}},
		"where keys are said to be":     {header: map[string]any{"alg": "RS256", "kid": key.id, "jku": "http://203.0.113.1/", "x5u": "http://203.0.113.1/"}, want: superAda},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := tt.header
			if header == nil {
				header = map[string]any{"alg": "RS256", "kid": key.id, "typ": "JWT"}
			}
			got, err := p.verifier(t, tt.options).Verify(t.Context(), sign(t, key, header, p.claims(tt.claims)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("got/want %s", diff)
			}
		})
	}
}

func TestOIDC_EveryAlgorithmIfAllowed(t *testing.T) {
	t.Parallel()
	rsa := rsaKey(t, 0)
	keys := map[string]signingKey{"ES256": ecKey(t, elliptic.P256()), "ES384": ecKey(t, elliptic.P384()), "ES512": ecKey(t, elliptic.P521())}
	p := newProvider(t, rsa, keys["ES256"], keys["ES384"], keys["ES512"])
	all, usual := p.verifier(t, func(o *auth.OIDCOptions) { o.Algorithms = auth.Algorithms() }), p.verifier(t, nil)
	for _, algorithm := range auth.Algorithms() {
		k, found := keys[algorithm]
		if !found {
			k = rsa
		}
		token := joseSign(t, jose.SignatureAlgorithm(algorithm), k.private, k.id, p.claims(nil))
		if _, err := all.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
		if _, err := usual.Verify(t.Context(), token); (err == nil) != (algorithm == "RS256") {
			t.Errorf("%s where only RS256 is allowed: %v", algorithm, err)
		}
	}
}

// TestOIDC_Attacks tries what is tried on code that reads tokens. All but the first
// few are signed well: it is the rule that refuses them.
func TestOIDC_Attacks(t *testing.T) {
	t.Parallel()
	key, foreign, ec, ec384 := rsaKey(t, 0), rsaKey(t, 1), ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384())
	p := newProvider(t, key, ec, ec384)
	good := p.token(t, key, nil)
	parts := strings.Split(good, ".")
	now := p.clock.Now().Unix()
	header := func(changes map[string]any) map[string]any {
		h := map[string]any{"alg": "RS256", "kid": key.id, "typ": "JWT"}
		for name, value := range changes {
			h[name] = value
		}
		return h
	}
	with := func(changes map[string]any) string { return p.token(t, key, changes) }
	headed := func(changes map[string]any) string { return sign(t, key, header(changes), p.claims(nil)) }
	payload := func(text string) string { return sign(t, key, header(nil), text) }
	asClaims := func(extra string) string {
		content, err := json.Marshal(p.claims(nil))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(content), "}") + "," + extra + "}"
	}
	name := func(n any) string { return with(map[string]any{"preferred_username": n}) }
	publicDER, err := x509.MarshalPKIXPublicKey(key.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER})
	publicJWK, err := json.Marshal(key.jwk())
	if err != nil {
		t.Fatal(err)
	}
	flipped := parts[2][:10] + map[bool]string{true: "B", false: "A"}[parts[2][10] == 'A'] + parts[2][11:]
	flattened, err := json.Marshal(map[string]string{"protected": parts[0], "payload": parts[1], "signature": parts[2]})
	if err != nil {
		t.Fatal(err)
	}
	general, err := json.Marshal(map[string]any{"payload": parts[1], "signatures": []map[string]string{{"protected": parts[0], "signature": parts[2]}}})
	if err != nil {
		t.Fatal(err)
	}

	for what, tt := range map[string]struct {
		token string
		want  auth.TokenError
	}{
		// Algorithms and keys.
		"alg none without a signature": {encode(t, header(map[string]any{"alg": "none"})) + "." + parts[1] + ".", auth.ErrMalformed},
		"alg none with a signature":    {encode(t, header(map[string]any{"alg": "none"})) + "." + parts[1] + "." + parts[2], auth.ErrWrongAlgorithm},
		"alg None":                     {headed(map[string]any{"alg": "nOnE"}), auth.ErrWrongAlgorithm},
		"alg rs256":                    {headed(map[string]any{"alg": "rs256"}), auth.ErrWrongAlgorithm},
		"alg null":                     {headed(map[string]any{"alg": nil}), auth.ErrWrongAlgorithm},
		"alg is a list":                {headed(map[string]any{"alg": []string{"RS256"}}), auth.ErrMalformed},
		"no alg":                       {sign(t, key, map[string]any{"kid": key.id}, p.claims(nil)), auth.ErrWrongAlgorithm},
		"HS256 with the key as PEM":    {joseSign(t, jose.HS256, publicPEM, key.id, p.claims(nil)), auth.ErrWrongAlgorithm},
		"HS256 with the key as DER":    {joseSign(t, jose.HS256, publicDER, key.id, p.claims(nil)), auth.ErrWrongAlgorithm},
		"HS256 with the key as JWK":    {joseSign(t, jose.HS256, publicJWK, key.id, p.claims(nil)), auth.ErrWrongAlgorithm},
		"ES256 under the RSA key's id": {joseSign(t, jose.ES256, ec.private, key.id, p.claims(nil)), auth.ErrUnknownKey},
		"RS256 under the EC key's id":  {sign(t, key, header(map[string]any{"kid": ec.id}), p.claims(nil)), auth.ErrUnknownKey},
		"ES256 said of a P-384 key":    {sign(t, key, header(map[string]any{"alg": "ES256", "kid": ec384.id}), p.claims(nil)), auth.ErrUnknownKey},
		"PS256 is not allowed":         {joseSign(t, jose.PS256, key.private, key.id, p.claims(nil)), auth.ErrWrongAlgorithm},
		"RS256 where PS256 was used":   {strings.Join([]string{parts[0], parts[1], strings.Split(joseSign(t, jose.PS256, key.private, key.id, p.claims(nil)), ".")[2]}, "."), auth.ErrBadSignature},
		"a key of somebody else":       {sign(t, foreign, header(nil), p.claims(nil)), auth.ErrBadSignature},
		"an unknown kid":               {sign(t, foreign, header(map[string]any{"kid": foreign.id}), p.claims(nil)), auth.ErrUnknownKey},
		"kid is a path":                {sign(t, foreign, header(map[string]any{"kid": "../../../../dev/null"}), p.claims(nil)), auth.ErrUnknownKey},
		"kid is a URL":                 {sign(t, foreign, header(map[string]any{"kid": "http://203.0.113.1/key"}), p.claims(nil)), auth.ErrUnknownKey},
		"kid is SQL":                   {sign(t, foreign, header(map[string]any{"kid": "' UNION SELECT 'x"}), p.claims(nil)), auth.ErrUnknownKey},
		"kid is a number":              {headed(map[string]any{"kid": 1}), auth.ErrMalformed},
		"a jwk of its own":             {sign(t, foreign, header(map[string]any{"jwk": foreign.jwk()}), p.claims(nil)), auth.ErrBadSignature},
		"a jwk and no kid":             {sign(t, foreign, map[string]any{"alg": "RS256", "jwk": foreign.jwk()}, p.claims(nil)), auth.ErrBadSignature},

		// Headers that change the meaning.
		"crit":                 {headed(map[string]any{"crit": []string{"exp"}, "exp": 1}), auth.ErrMalformed},
		"crit b64":             {headed(map[string]any{"crit": []string{"b64"}, "b64": false}), auth.ErrMalformed},
		"crit null":            {sign(t, key, `{"alg":"RS256","kid":"rsa-0","crit":null}`, p.claims(nil)), auth.ErrMalformed},
		"b64":                  {headed(map[string]any{"b64": true}), auth.ErrMalformed},
		"compressed":           {headed(map[string]any{"zip": "DEF"}), auth.ErrMalformed},
		"a token in the token": {sign(t, key, header(map[string]any{"cty": "JWT"}), good), auth.ErrMalformed},
		"a header twice":       {sign(t, key, `{"alg":"RS256","kid":"rsa-0","alg":"none"}`, p.claims(nil)), auth.ErrMalformed},
		"header is a list":     {sign(t, key, `["RS256"]`, p.claims(nil)), auth.ErrMalformed},
		"header is null":       {sign(t, key, `null`, p.claims(nil)), auth.ErrMalformed},
		"header has a tail":    {sign(t, key, `{"alg":"RS256","kid":"rsa-0"}{}`, p.claims(nil)), auth.ErrMalformed},

		// The form.
		"no token":                    {"", auth.ErrMalformed},
		"words":                       {"let me in", auth.ErrMalformed},
		"two dots":                    {"..", auth.ErrMalformed},
		"two parts":                   {parts[0] + "." + parts[1], auth.ErrMalformed},
		"four parts":                  {good + "." + parts[2], auth.ErrMalformed},
		"five parts, as encrypted":    {good + "." + parts[1] + "." + parts[2], auth.ErrMalformed},
		"the signature is gone":       {parts[0] + "." + parts[1] + ".", auth.ErrMalformed},
		"the signature is cut":        {good[:len(good)-2], auth.ErrBadSignature},
		"the signature is another":    {parts[0] + "." + parts[1] + "." + flipped, auth.ErrBadSignature},
		"padding":                     {good + "==", auth.ErrMalformed},
		"padding in the middle":       {parts[0] + "=." + parts[1] + "." + parts[2], auth.ErrMalformed},
		"base64 of the other kind":    {signParts(t, key, base64.RawStdEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"rsa-0","x":"???>>>"}`)), parts[1]), auth.ErrMalformed},
		"a second spelling":           {secondSpelling(good), auth.ErrMalformed},
		"a line end":                  {parts[0] + "\n." + parts[1] + "." + parts[2], auth.ErrMalformed},
		"a blank at the end":          {good + " ", auth.ErrMalformed},
		"JSON, flattened":             {string(flattened), auth.ErrMalformed},
		"JSON, general":               {string(general), auth.ErrMalformed},
		"too long":                    {with(map[string]any{"filler": strings.Repeat("x", auth.MaxToken)}), auth.ErrMalformed},
		"claims are a text":           {payload(`"` + good + `"`), auth.ErrMalformed},
		"claims are null":             {payload("null"), auth.ErrMalformed},
		"claims are a list":           {payload("[]"), auth.ErrMalformed},
		"claims are cut":              {payload(`{"iss":`), auth.ErrMalformed},
		"claims are twice":            {payload(asClaims(`"preferred_username":"root"`)), auth.ErrMalformed},
		"inner claims are twice":      {payload(asClaims(`"x":{"roles":[],"roles":["super_user"]}`)), auth.ErrMalformed},
		"claims are in invalid UTF-8": {payload(asClaims("\"x\":\"\xff\"")), auth.ErrMalformed},
		"claims have a tail":          {payload(asClaims(`"x":1`) + "{}"), auth.ErrMalformed},

		// The claims.
		"another issuer":               {with(map[string]any{"iss": "https://evil.example/realms/loculus"}), auth.ErrWrongIssuer},
		"the issuer with a slash":      {with(map[string]any{"iss": p.issuer() + "/"}), auth.ErrWrongIssuer},
		"issuers in a list":            {with(map[string]any{"iss": []string{p.issuer()}}), auth.ErrWrongIssuer},
		"no issuer":                    {with(map[string]any{"iss": nil}), auth.ErrWrongIssuer},
		"the issuer in capitals":       {payload(strings.Replace(asClaims(`"x":1`), `"iss"`, `"ISS"`, 1)), auth.ErrWrongIssuer},
		"expired":                      {with(map[string]any{"exp": now - 60}), auth.ErrExpired},
		"expired long ago":             {with(map[string]any{"exp": 1}), auth.ErrExpired},
		"no exp":                       {with(map[string]any{"exp": nil}), auth.ErrMalformed},
		"exp is a text":                {with(map[string]any{"exp": "9999999999"}), auth.ErrMalformed},
		"exp is negative":              {with(map[string]any{"exp": -1}), auth.ErrMalformed},
		"exp is beyond numbers":        {payload(strings.Replace(asClaims(`"x":1`), `"exp":`, `"exp":1e400,"y":`, 1)), auth.ErrMalformed},
		"exp is beyond dates":          {with(map[string]any{"exp": 1e300}), auth.ErrMalformed},
		"nbf in the future":            {with(map[string]any{"nbf": now + 61}), auth.ErrNotYetValid},
		"nbf is a text":                {with(map[string]any{"nbf": "0"}), auth.ErrMalformed},
		"an ID token":                  {with(map[string]any{"typ": "ID"}), auth.ErrWrongType},
		"a refresh token":              {with(map[string]any{"typ": "Refresh"}), auth.ErrWrongType},
		"a token bound to a key":       {with(map[string]any{"typ": "DPoP"}), auth.ErrWrongType},
		"typ is a number":              {with(map[string]any{"typ": 1}), auth.ErrWrongType},
		"a logout token":               {headed(map[string]any{"typ": "logout+jwt"}), auth.ErrWrongType},
		"no user":                      {name(nil), auth.ErrNameless},
		"the user is a number":         {name(7), auth.ErrNameless},
		"the user is a list":           {name([]string{"ada"}), auth.ErrNameless},
		"the user is an object":        {name(map[string]any{"name": "ada"}), auth.ErrNameless},
		"the user is null":             {payload(strings.Replace(asClaims(`"x":1`), `"ada"`, `null`, 1)), auth.ErrNameless},
		"the user is empty":            {name(""), auth.ErrNameless},
		"the user is a blank":          {name(" "), auth.ErrNameless},
		"blanks around the user":       {name(" ada"), auth.ErrNameless},
		"NUL in the name":              {name("ada\x00root"), auth.ErrNameless},
		"a line end in the name":       {name("ada\nroot"), auth.ErrNameless},
		"half a character in the name": {payload(strings.Replace(asClaims(`"x":1`), `"ada"`, `"\ud800"`, 1)), auth.ErrMalformed},
		"a name of 256 characters":     {name(strings.Repeat("a", 256)), auth.ErrNameless},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			v := p.verifier(t, func(o *auth.OIDCOptions) { o.Algorithms = []string{"RS256", "ES256"} })
			got, err := v.Verify(t.Context(), tt.token)
			if !errors.Is(err, tt.want) || !errors.Is(err, auth.ErrInvalidToken) || got.Name != "" || len(got.Roles) > 0 {
				t.Errorf("got %+v, %v; want %v", got, err, tt.want)
			}
		})
	}
	if _, err := p.verifier(t, func(o *auth.OIDCOptions) { o.Audience = "seqlease" }).Verify(t.Context(), good); !errors.Is(err, auth.ErrWrongAudience) {
		t.Errorf("another audience: %v", err)
	}
	for _, audience := range []any{nil, 1, []any{"seqlease", 1}, map[string]any{"seqlease": 1}} {
		_, err := p.verifier(t, func(o *auth.OIDCOptions) { o.Audience = "seqlease" }).Verify(t.Context(), with(map[string]any{"aud": audience}))
		if !errors.Is(err, auth.ErrWrongAudience) {
			t.Errorf("audience %v: %v", audience, err)
		}
	}
}

// secondSpelling changes the bits at the end of the signature that carry nothing.
func secondSpelling(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func TestOIDC_KeysOfTwoAreNotGuessed(t *testing.T) {
	t.Parallel()
	first, second := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, first, second)
	_, err := p.verifier(t, nil).Verify(t.Context(), sign(t, first, map[string]any{"alg": "RS256"}, p.claims(nil)))
	if !errors.Is(err, auth.ErrUnknownKey) {
		t.Errorf("no kid and two keys: %v", err)
	}
}

func TestOIDC_FetchesNothingThatATokenNames(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(trap.Close)
	key, foreign := rsaKey(t, 0), rsaKey(t, 1)
	p := newProvider(t, key)
	v := p.verifier(t, nil)
	for _, member := range []string{"jku", "x5u", "kid", "iss"} {
		header := map[string]any{"alg": "RS256", "kid": key.id}
		header[member] = trap.URL + "/keys"
		_, err := v.Verify(t.Context(), sign(t, foreign, header, p.claims(nil)))
		if !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("%s: %v", member, err)
		}
	}
	claims := p.claims(map[string]any{
		"iss": trap.URL, "_claim_names": map[string]string{"realm_access": "src"},
		"_claim_sources": map[string]any{"src": map[string]string{"endpoint": trap.URL}},
	})
	if _, err := v.Verify(t.Context(), sign(t, key, map[string]any{"alg": "RS256", "kid": key.id}, claims)); !errors.Is(err, auth.ErrWrongIssuer) {
		t.Errorf("claims from elsewhere: %v", err)
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d visits where tokens said that keys are", n)
	}
}

func TestOIDC_WeakAndSecretKeysAreNotUsed(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	public := key.private.Public().(*rsa.PublicKey)
	n := base64.RawURLEncoding.EncodeToString(public.N.Bytes())
	weak := base64.RawURLEncoding.EncodeToString(public.N.Bytes()[:128])
	set := func(members string) {
		p.change(func() { p.keySet = func() []byte { return []byte(`{"keys":[` + members + `]}`) } })
	}
	other := `{"kty":"RSA","kid":"other","n":"` + n + `","e":"AQAB"}`
	for name, member := range map[string]string{
		"for encryption":        `{"kty":"RSA","kid":"rsa-0","use":"enc","n":"` + n + `","e":"AQAB"}`,
		"for another algorithm": `{"kty":"RSA","kid":"rsa-0","alg":"PS256","n":"` + n + `","e":"AQAB"}`,
		"with 1024 bits":        `{"kty":"RSA","kid":"rsa-0","n":"` + weak + `","e":"AQAB"}`,
		"a secret":              `{"kty":"oct","kid":"rsa-0","k":"` + n + `"}`,
		"unknown":               `{"kty":"XXX","kid":"rsa-0","n":"` + n + `","e":"AQAB"}`,
		"broken":                `{"kty":"RSA","kid":"rsa-0","n":"?","e":"AQAB"}`,
		"no object":             `7`,
	} {
		set(member + "," + other)
		if _, err := p.verifier(t, nil).Verify(t.Context(), p.token(t, key, nil)); !errors.Is(err, auth.ErrUnknownKey) {
			t.Errorf("a key %s: %v", name, err)
		}
	}
	set(other + `,{"kty":"RSA","kid":"rsa-0","use":"sig","alg":"RS256","n":"` + n + `","e":"AQAB"}`)
	if _, err := p.verifier(t, nil).Verify(t.Context(), p.token(t, key, nil)); err != nil {
		t.Errorf("a good key among others: %v", err)
	}
}

func TestNewOIDC_NeedsAnIssuer(t *testing.T) {
	t.Parallel()
	if _, err := auth.NewOIDC(auth.OIDCOptions{}); err == nil {
		t.Error("no error")
	}
}

// BenchmarkOIDC_Verify shows what a cache of verified tokens could save.
func BenchmarkOIDC_Verify(b *testing.B) {
	key := rsaKey(b, 0)
	p := newProvider(b, key)
	v := p.verifier(b, nil)
	token := p.token(b, key, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzOIDC_OnlyWhatWasIssuedCounts(f *testing.F) {
	key := rsaKey(f, 0)
	p := newProvider(f, key)
	v := p.verifier(f, func(o *auth.OIDCOptions) { o.Algorithms = auth.Algorithms() })
	issued := p.token(f, key, nil)
	if _, err := v.Verify(f.Context(), issued); err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(issued, ".")
	f.Add(issued)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add(encode(f, `{"alg":"none"}`) + "." + parts[1] + "." + parts[2])
	f.Add(encode(f, `{"alg":"ES256","kid":"rsa-0","jwk":{"kty":"EC"}}`) + "." + parts[1] + "." + parts[2])
	f.Add(encode(f, `{"alg":"RS256","crit":["b64"],"b64":false}`) + "." + parts[1] + "." + parts[2])
	f.Add(parts[0] + "." + encode(f, `{"exp":1e9999,"iss":null}`) + "." + parts[2])
	f.Add(`{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `"}]}`)
	f.Fuzz(func(t *testing.T, token string) {
		person, err := v.Verify(t.Context(), token)
		switch {
		case err == nil && token != issued:
			t.Errorf("a token that nobody issued is %+v", person)
		case err != nil && token == issued:
			t.Error(err)
		case err != nil && !errors.Is(err, auth.ErrInvalidToken):
			t.Errorf("%v is no fault of the token", err)
		}
		if got := auth.IsJWT(token); !got && err == nil {
			t.Error("a good token hasn't the form of one")
		}
	})
}

func TestOIDC_AFastClockOnEitherSide(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, 0)
	p := newProvider(t, key)
	v := p.verifier(t, nil)
	token := p.token(t, key, map[string]any{"nbf": p.clock.Now().Unix()})
	for _, tt := range []struct {
		pass time.Duration
		want error
	}{{-61 * time.Second, auth.ErrNotYetValid}, {time.Second, nil}, {10*time.Hour + 119*time.Second, nil}, {time.Second, auth.ErrExpired}} {
		p.clock.pass(tt.pass)
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, tt.want) {
			t.Errorf("after %s: got %v, want %v", tt.pass, err, tt.want)
		}
	}
}
