package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// TokenConfig is a bearer token and who it stands for. The token itself is not
// in the file: SHA256 is its hash, or Env names the environment variable that
// holds it.
type TokenConfig struct {
	User   string   `yaml:"user"`
	Roles  []string `yaml:"roles"`
	SHA256 string   `yaml:"sha256"` // hexadecimal
	Env    string   `yaml:"env"`
}

// minToken is the fewest characters of a token. Of a token that is given by its
// hash the length isn't known.
const minToken = 16

// knownRoles are those that decide something.
func knownRoles() []string {
	return []string{
		string(seqlease.PreprocessingPipeline), string(seqlease.ExternalMetadataUpdater), string(seqlease.SuperUser),
	}
}

// resolveTokens replaces environment variables by the hashes of their values.
func (c *Config) resolveTokens(lookup func(string) (string, bool)) []string {
	var faults []string
	for i := range c.Tokens {
		t := &c.Tokens[i]
		if t.Env == "" || t.SHA256 != "" {
			continue // [tokenFaults] says what is wrong
		}
		value, _ := lookup(t.Env)
		if value == "" {
			faults = append(faults, fmt.Sprintf("tokens[%d]: the environment variable %s is not set; it should hold the token of %q", i, t.Env, t.User))
			continue
		}
		if n := utf8.RuneCountInString(value); n < minToken {
			faults = append(faults, fmt.Sprintf("tokens[%d]: the token of %q in the environment variable %s has %d characters; "+
				"a token that can't be guessed has at least %d, such as `openssl rand -hex 16` prints", i, t.User, t.Env, n, minToken))
			t.SHA256, t.Env = strings.Repeat("0", 2*sha256.Size), "" // one fault is enough
			continue
		}
		hash := sha256.Sum256([]byte(value))
		t.SHA256, t.Env = hex.EncodeToString(hash[:]), ""
	}
	return faults
}

func tokenFaults(tokens []TokenConfig) []string {
	var faults []string
	fault := func(i int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("tokens[%d]: ", i)+fmt.Sprintf(format, args...))
	}
	seen := map[string]bool{}
	for i, t := range tokens {
		if t.User == "" {
			fault(i, "user is missing")
		}
		switch hash, err := hex.DecodeString(t.SHA256); {
		case t.SHA256 != "" && t.Env != "":
			fault(i, "give sha256 or env, not both")
		case t.SHA256 == "" && t.Env == "":
			fault(i, "sha256 or env is missing")
		case t.SHA256 != "" && (err != nil || len(hash) != sha256.Size):
			fault(i, "sha256 is not the 64 hexadecimal digits that `printf %%s TOKEN | sha256sum` prints")
		case t.SHA256 != "" && seen[strings.ToLower(t.SHA256)]:
			fault(i, "the same token is listed twice")
		}
		seen[strings.ToLower(t.SHA256)] = true
		for _, role := range t.Roles {
			if !slices.Contains(knownRoles(), role) {
				fault(i, "role %q is none of %s", role, strings.Join(knownRoles(), ", "))
			}
		}
	}
	return faults
}
