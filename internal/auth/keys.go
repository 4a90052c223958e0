package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a key set. Providers have two to ten keys; RSA keys below 2,048 bits
// are too weak (RFC 7518 §3.3), and those above 8,192 cost more than they are worth.
const (
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192
)

// Algorithms lists the signature algorithms that may be allowed. None of them is
// made with a secret: a server that could check such a token could also forge it.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}
}

// publicKey is a key that tokens may be signed with.
type publicKey struct {
	id        string
	algorithm string // empty: any of its kind
	key       crypto.PublicKey
}

// keySource has the keys of an issuer.
type keySource interface {
	// candidates returns the keys that a token with the given algorithm and key id
	// may be signed with. The error is [ErrUnknownKey] if there is none, and
	// [ErrUnavailable] if that could not be found out.
	candidates(ctx context.Context, algorithm, id string) ([]publicKey, error)
}

// fixedKeys are keys that don't change.
type fixedKeys []publicKey

func (f fixedKeys) candidates(_ context.Context, algorithm, id string) ([]publicKey, error) {
	if found := suitable(f, algorithm, id); len(found) > 0 {
		return found, nil
	}
	return nil, ErrUnknownKey
}

// readKeySet reads a JSON Web Key Set (RFC 7517 §5). Keys that aren't for
// signatures or of a kind that isn't known are left out.
func readKeySet(document []byte) ([]publicKey, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, errors.New("the key set isn't valid JSON of the form {\"keys\": […]}")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the key set has %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var keys []publicKey
	for _, value := range set.Keys {
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(value); err != nil || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		keys = append(keys, publicKey{id: k.KeyID, algorithm: k.Algorithm, key: k.Key})
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no public key for signatures")
	}
	return keys, nil
}

// suitable returns the keys that a token may be signed with. One that names no key
// is taken only if there is a single key it could mean (OpenID Connect Core §10.1).
func suitable(keys []publicKey, algorithm, id string) []publicKey {
	var found []publicKey
	for _, k := range keys {
		if k.suits(algorithm) && (id == "" || k.id == id) {
			found = append(found, k)
		}
	}
	if id == "" && len(found) > 1 {
		return nil
	}
	return found
}

// suits says whether signatures of the algorithm are made with keys like this one:
// the token's word for it isn't enough.
func (k publicKey) suits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		bits := key.N.BitLen()
		return (strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")) && bits >= minRSABits && bits <= maxRSABits
	case *ecdsa.PublicKey:
		return curves[algorithm] != "" && curves[algorithm] == key.Curve.Params().Name
	default:
		return false
	}
}

// curves are those of the algorithms (RFC 7518 §3.4).
var curves = map[string]string{"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}

// verifySignature says whether one of the keys signed the token, whose algorithm is
// an allowed one.
func verifySignature(token string, t *jwt, keys []publicKey) error {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(t.header.Algorithm)})
	if err != nil {
		return ErrMalformed
	}
	for _, k := range keys {
		if payload, err := signed.Verify(k.key); err == nil && bytes.Equal(payload, t.payload) {
			return nil
		}
	}
	return ErrBadSignature
}
