package main

import (
	"context"
	"crypto/rand"
	_ "embed" // dev.yaml
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seqlease/seqlease/internal/auth"
	"github.com/seqlease/seqlease/internal/demo"
)

// DevConfig is what `--dev` adds: an issuer of tokens in the server itself.
type DevConfig struct {
	Users []auth.DevUser
}

//go:embed dev.yaml
var devYAML []byte

// loadDevConfig is [loadConfig] for `--dev`: without a path the configuration is the
// built-in one, and tokens whose environment variable isn't set are left out, since
// there are other ways to get in.
func loadDevConfig(path string, env func(string) (string, bool)) (*Config, error) {
	var c *Config
	var faults []string
	var err error
	if path == "" {
		path = "of --dev"
		c, faults, err = parseConfig(path, devYAML, "")
		if err == nil {
			c.Organisms["zika"].ReferenceGenome.NucleotideSequences[0].Sequence = demo.Reference()
		}
	} else {
		c, faults, err = readConfig(path)
	}
	if err != nil {
		return nil, err
	}
	var tokens []TokenConfig
	for _, t := range c.Tokens {
		if value, _ := env(t.Env); t.Env == "" || value != "" {
			tokens = append(tokens, t)
		}
	}
	c.Tokens = tokens
	if c.OIDC != nil {
		faults = append(faults, "oidc: --dev has an issuer of its own; leave out either")
		c.OIDC = nil
	}
	faults = append(faults, c.resolveSecrets(env)...)
	return c, faultsOf(path, append(faults, c.faults()...))
}

// devUsers returns the users of the built-in issuer with the given password, or each
// with one of their own.
func devUsers(password string) []auth.DevUser {
	users := auth.DevUsers()
	for i := range users {
		if users[i].Password = password; password == "" {
			users[i].Password = rand.Text()
		}
	}
	return users
}

// lookup finds the addresses of a name, as [net.Resolver] does.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// lookupTimeout bounds how long a name may take.
const lookupTimeout = 5 * time.Second

// loopbackOnly returns the address to listen on, with a number for its name. It
// refuses what other machines may reach: an issuer whose users everybody knows is for
// the people at this one.
func loopbackOnly(ctx context.Context, listen string, find lookup) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	refusal := usagef("--dev listens on this machine only, such as on %s, not on %s", defaultListen, listen)
	if host == "" {
		return "", refusal
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := find(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("%w: %w", refusal, err)
	}
	var chosen netip.Addr
	for _, address := range addresses {
		address = address.Unmap()
		if !address.IsLoopback() {
			return "", refusal
		}
		if !chosen.IsValid() || address.Is4() && !chosen.Is4() {
			chosen = address
		}
	}
	if !chosen.IsValid() {
		return "", refusal
	}
	return net.JoinHostPort(chosen.String(), port), nil
}

// printDevUsers tells people how to log in. A password that they chose isn't
// repeated.
func printDevUsers(w io.Writer, origin string, users []auth.DevUser, chosen bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "Only for trying things out, at %s (see %s/swagger-ui/). Users:\n\nUSER\tPASSWORD\tROLES\n", origin, origin)
	for _, u := range users {
		password := u.Password
		if chosen {
			password = "(as given)"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", u.Name, password, strings.Join(u.Roles, ", "))
	}
	_, _ = fmt.Fprintf(table, "\nA token for ten hours is `access_token` in the answer to\n\n"+
		"curl %s%sprotocol/openid-connect/token -d client_id=backend-client -d grant_type=password -d username=testuser -d password=…\n",
		origin, auth.RealmPath)
	return table.Flush()
}
