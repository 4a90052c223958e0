package auth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// The realm and the client of the identity provider that clients of the protocol
// know, and for how long its tokens are good (protocol §2).
const (
	devRealm        = "loculus"
	devClient       = "backend-client"
	accessLifetime  = 10 * time.Hour
	refreshLifetime = 7 * 24 * time.Hour
)

// RealmPath is below what path everything of a [DevIssuer] is.
const RealmPath = "/realms/" + devRealm + "/"

// DevUser is a user of a [DevIssuer].
type DevUser struct {
	Name     string
	Roles    []string
	Password string
}

// DevUsers returns the users that existing clients and people who try things out
// log in as, without passwords.
func DevUsers() []DevUser {
	return []DevUser{
		{Name: "testuser", Roles: []string{"user"}},
		{Name: "otheruser", Roles: []string{"user"}},
		{Name: "superuser", Roles: []string{"user", string(seqlease.SuperUser)}},
		{Name: "preprocessing_pipeline", Roles: []string{string(seqlease.PreprocessingPipeline)}},
		{Name: "insdc_ingest_user", Roles: []string{"user"}},
		{Name: "external_metadata_updater", Roles: []string{string(seqlease.ExternalMetadataUpdater)}},
	}
}

// DevIssuer is an identity provider for trying things out: it has a fixed list of
// users, gives tokens for their passwords as Keycloak does, and forgets everything
// when the process ends. Its keys are made at the start and never written down. It
// may be used concurrently.
type DevIssuer struct {
	issuer   string
	users    map[string]devUser
	now      func() time.Time
	key      publicKey
	access   jose.Signer
	refresh  jose.Signer
	secret   []byte // of refresh
	keySet   []byte // JSON
	attempts *attempts
}

type devUser struct {
	DevUser
	id       string
	password [sha256.Size]byte
}

// NewDevIssuer returns an issuer that is reached at the given origin, such as
// http://127.0.0.1:8079. now may be nil.
func NewDevIssuer(origin string, users []DevUser, now func() time.Time) (*DevIssuer, error) {
	if now == nil {
		now = time.Now
	}
	d := &DevIssuer{issuer: origin + "/realms/" + devRealm, users: map[string]devUser{}, now: now, attempts: newAttempts(now)}
	for _, u := range users {
		if u.Name == "" || u.Password == "" {
			return nil, errors.New("a user of the built-in issuer has no name or no password")
		}
		d.users[u.Name] = devUser{DevUser: u, id: randomID(), password: sha256.Sum256([]byte(u.Password))}
	}
	return d, d.makeKeys()
}

// makeKeys makes the key pair of the access tokens and the secret of the refresh
// tokens, which nobody but the issuer reads.
func (d *DevIssuer) makeKeys() error {
	private, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		return err
	}
	public := jose.JSONWebKey{Key: private.Public(), Use: "sig", Algorithm: string(jose.RS256)}
	print, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return err
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(print)
	d.key = publicKey{id: public.KeyID, algorithm: public.Algorithm, key: public.Key}
	if d.keySet, err = json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}); err != nil {
		return err
	}
	d.secret = make([]byte, sha256.Size*2)
	_, _ = rand.Read(d.secret) // never returns an error
	typed := (&jose.SignerOptions{}).WithType("JWT")
	d.access, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: public.KeyID}}, typed)
	if err != nil {
		return err
	}
	d.refresh, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.HS512, Key: d.secret}, typed)
	return err
}

// Verifier checks the issuer's access tokens. It needs no network.
func (d *DevIssuer) Verifier() *OIDC {
	return newOIDC(OIDCOptions{Issuer: d.issuer, Now: d.now}, fixedKeys{d.key})
}

// tokenClaims are those of the tokens, in the shape of Keycloak's.
type tokenClaims struct {
	ExpiresAt   int64      `json:"exp"`
	IssuedAt    int64      `json:"iat"`
	ID          string     `json:"jti"`
	Issuer      string     `json:"iss"`
	Audience    string     `json:"aud,omitempty"`
	Subject     string     `json:"sub"`
	Type        string     `json:"typ"`
	Party       string     `json:"azp"`
	Scope       string     `json:"scope"`
	Username    string     `json:"preferred_username,omitempty"`
	RealmAccess *roleClaim `json:"realm_access,omitempty"`
}

type roleClaim struct {
	Roles []string `json:"roles"`
}

const (
	typeBearer  = "Bearer"
	typeRefresh = "Refresh"
	devScope    = "profile email"
)

// tokensOf makes an access token and a refresh token of a user.
func (d *DevIssuer) tokensOf(u devUser) (access, refresh string, err error) {
	now := d.now()
	claims := tokenClaims{
		IssuedAt: now.Unix(), ExpiresAt: now.Add(accessLifetime).Unix(), ID: randomID(), Issuer: d.issuer, Subject: u.id,
		Party: devClient, Scope: devScope, Audience: "account", Type: typeBearer, Username: u.Name, RealmAccess: &roleClaim{Roles: u.Roles},
	}
	if access, err = signClaims(d.access, claims); err != nil {
		return "", "", err
	}
	claims.ExpiresAt, claims.ID, claims.Type = now.Add(refreshLifetime).Unix(), randomID(), typeRefresh
	claims.Audience, claims.RealmAccess = d.issuer, nil
	refresh, err = signClaims(d.refresh, claims)
	return access, refresh, err
}

func signClaims(signer jose.Signer, claims tokenClaims) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// login returns the user with that password. It takes as long for a user who
// doesn't exist.
func (d *DevIssuer) login(name, password string) (devUser, bool) {
	u, found := d.users[name]
	given := sha256.Sum256([]byte(password))
	right := subtle.ConstantTimeCompare(given[:], u.password[:]) == 1
	return u, found && right
}

// refreshed returns the user of a refresh token that is good.
func (d *DevIssuer) refreshed(token string) (devUser, bool) {
	if len(token) > maxToken {
		return devUser{}, false
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.HS512})
	if err != nil {
		return devUser{}, false
	}
	payload, err := signed.Verify(d.secret)
	if err != nil {
		return devUser{}, false
	}
	var claims tokenClaims
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Type != typeRefresh || !d.now().Before(time.Unix(claims.ExpiresAt, 0)) {
		return devUser{}, false
	}
	u, found := d.users[claims.Username]
	return u, found
}

// randomID draws a random UUID (version 4).
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
