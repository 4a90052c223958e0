package auth

import (
	"encoding/base64"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxToken is the longest token in bytes that is looked at; headers have at most
// 20 KB altogether.
const maxToken = 16 << 10

// jwt is a token that was read and whose signature nobody has checked yet.
type jwt struct {
	header  jwtHeader
	payload []byte
	claims  map[string]jsontext.Value
}

// jwtHeader is what of a token's header (RFC 7515 §4.1) decides something. What
// tells where keys are (jku, jwk, x5u, x5c) isn't read: keys come from the
// provider.
type jwtHeader struct {
	Algorithm   string         `json:"alg"`
	KeyID       string         `json:"kid"`
	Type        string         `json:"typ"`
	ContentType string         `json:"cty"`
	Critical    jsontext.Value `json:"crit"`
	Unencoded   jsontext.Value `json:"b64"`
	Compression jsontext.Value `json:"zip"`
}

// strictBase64 takes each sequence of bytes in one spelling only, so that no token
// has a second form.
var strictBase64 = base64.RawURLEncoding.Strict()

// IsJWT says whether a text has the form of a signed token in compact
// serialisation: a header in JSON and two more parts.
func IsJWT(token string) bool {
	header, rest, found := strings.Cut(token, ".")
	if len(token) > maxToken || !found || strings.Count(rest, ".") != 1 {
		return false
	}
	_, err := readHeader(header)
	return err == nil
}

// readJWT reads a token without believing anything in it. The error is [ErrMalformed]
// unless it is readable and something else than a signed set of claims.
func readJWT(token string) (*jwt, error) {
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 {
		return nil, ErrMalformed
	}
	t := &jwt{}
	var err error
	if t.header, err = readHeader(parts[0]); err != nil {
		return nil, err
	}
	if t.payload, err = decodePart(parts[1]); err != nil {
		return nil, err
	}
	if signature, err := decodePart(parts[2]); err != nil || len(signature) == 0 {
		return nil, ErrMalformed
	}
	// The decoder refuses names that occur twice, at every depth, and invalid UTF-8.
	if err := json.Unmarshal(t.payload, &t.claims); err != nil || t.claims == nil {
		return nil, ErrMalformed
	}
	return t, nil
}

// readHeader reads the first part of a token. Headers that change what the other
// parts mean are refused: extensions that must be understood (crit), a payload that
// isn't encoded or is compressed, and a token in a token.
func readHeader(part string) (jwtHeader, error) {
	content, err := decodePart(part)
	if err != nil {
		return jwtHeader{}, err
	}
	var h *jwtHeader
	if err := json.Unmarshal(content, &h); err != nil || h == nil {
		return jwtHeader{}, ErrMalformed
	}
	if h.Critical != nil || h.Unencoded != nil || h.Compression != nil || h.ContentType != "" {
		return jwtHeader{}, ErrMalformed
	}
	return *h, nil
}

func decodePart(part string) ([]byte, error) {
	if strings.ContainsAny(part, "\r\n") { // which the decoder skips
		return nil, ErrMalformed
	}
	content, err := strictBase64.DecodeString(part)
	if err != nil {
		return nil, ErrMalformed
	}
	return content, nil
}
