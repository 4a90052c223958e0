package auth

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease"
)

// ErrInvalidToken says that the token is malformed, unknown, expired or badly
// signed. Every [TokenError] is one.
var ErrInvalidToken = errors.New("invalid token")

// ErrUnavailable says that the identity provider couldn't be asked, so that a
// token or a user could not be checked.
var ErrUnavailable = errors.New("the identity provider can't be asked")

// TokenError is why a token doesn't count, for whoever sent it. It is one of the
// constants: nothing of the token is in it.
type TokenError string

// The reasons. Clients look for the words of the first one.
const (
	ErrMalformed      TokenError = "An error occurred while attempting to decode the Jwt: Malformed token"
	ErrWrongAlgorithm TokenError = "the token is signed with an algorithm that isn't allowed here"
	ErrWrongType      TokenError = "the token is not an access token"
	ErrWrongIssuer    TokenError = "the token is of another issuer"
	ErrWrongAudience  TokenError = "the token is for another audience"
	ErrExpired        TokenError = "the token has expired"
	ErrNotYetValid    TokenError = "the token is not valid yet"
	ErrUnknownKey     TokenError = "the token is signed with a key that the issuer doesn't have"
	ErrBadSignature   TokenError = "the token's signature is wrong"
	ErrNameless       TokenError = "the token names no user that can be stored"
)

// Error returns the reason.
func (e TokenError) Error() string { return "invalid token: " + string(e) }

// Is makes every reason an [ErrInvalidToken].
func (e TokenError) Is(target error) bool { return target == ErrInvalidToken }

// Verifier checks tokens. It may be used concurrently.
type Verifier interface {
	// Verify returns who the token stands for. The error is [ErrInvalidToken] if
	// the token is at fault, and says why if it is a [TokenError]; it is anything
	// else if the token could not be checked. No part of the token is in it.
	Verify(ctx context.Context, token string) (seqlease.Person, error)
}

// either takes tokens of both kinds.
type either struct {
	static *Static
	issued *OIDC
}

// Either returns a verifier of the tokens of the configuration and of those that
// the provider issues. A token's form alone decides which of the two is asked: what
// has the form of a JWT is never looked for among the configured tokens, and
// nothing else is shown to the provider's verifier.
func Either(static *Static, issued *OIDC) Verifier { return either{static, issued} }

// Verify asks the verifier of the token's kind.
func (e either) Verify(ctx context.Context, token string) (seqlease.Person, error) {
	if IsJWT(token) {
		return e.issued.Verify(ctx, token)
	}
	return e.static.Verify(ctx, token)
}
