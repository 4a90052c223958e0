package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"github.com/seqlease/seqlease"
)

// StaticToken is a token of the configuration, of which only the hash is kept.
type StaticToken struct {
	SHA256 [sha256.Size]byte
	Person seqlease.Person
}

// Hash returns what [StaticToken] keeps of a token.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Static knows a fixed list of tokens.
type Static struct {
	tokens []StaticToken
}

// NewStatic returns a verifier of the given tokens. Each must be of a named
// person, and no two may be the same token.
func NewStatic(tokens []StaticToken) (*Static, error) {
	seen := make(map[[sha256.Size]byte]string, len(tokens))
	for i, t := range tokens {
		if t.Person.Name == "" {
			return nil, fmt.Errorf("token %d has no user name", i+1)
		}
		if t.SHA256 == Hash("") {
			return nil, fmt.Errorf("the token of %s is empty", t.Person.Name)
		}
		if other, twice := seen[t.SHA256]; twice {
			return nil, fmt.Errorf("%s and %s have the same token", other, t.Person.Name)
		}
		seen[t.SHA256] = t.Person.Name
	}
	return &Static{tokens: tokens}, nil
}

// Verify compares the token with every known one, in a time that doesn't depend
// on which of them it is or how much of it is right. One that is unknown is
// [ErrMalformed]: it is no token of this server, and can't be read as anything else.
func (s *Static) Verify(_ context.Context, token string) (seqlease.Person, error) {
	hash := Hash(token)
	found := -1
	for i := range s.tokens {
		equal := subtle.ConstantTimeCompare(hash[:], s.tokens[i].SHA256[:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 {
		return seqlease.Person{}, ErrMalformed
	}
	return s.tokens[found].Person, nil
}

// KnowsUser says whether a token stands for the user.
func (s *Static) KnowsUser(_ context.Context, name string) (bool, error) {
	for _, t := range s.tokens {
		if t.Person.Name == name {
			return true, nil
		}
	}
	return false, nil
}
