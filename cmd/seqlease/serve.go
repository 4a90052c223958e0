package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
)

type serveArgs struct {
	Config   string `type:"path" help:"Configuration file, YAML or JSON. Only --dev has one built in." placeholder:"FILE"`
	Listen   string `env:"SEQLEASE_LISTEN" help:"Address to listen on; 127.0.0.1:8079 unless the file says otherwise. Other machines reach the server only on an address that isn't loopback." placeholder:"HOST:PORT"`
	Store    string `env:"SEQLEASE_STORE" help:"sqlite:FILE or postgres://…; sqlite:seqlease.db unless the file says otherwise." placeholder:"STORE"`
	SpoolDir string `env:"SEQLEASE_SPOOL_DIR" type:"path" help:"Directory for uploads and downloads under way; the system's for temporary files unless the file says otherwise." placeholder:"DIR"`
	PoolSize *int   `env:"SEQLEASE_POOL_SIZE" help:"Connections to PostgreSQL; 8 unless the file says otherwise." placeholder:"N"`
	ReadOnly bool   `env:"SEQLEASE_READ_ONLY" help:"Answer writes with 503, as readOnlyMode in the file does."`

	Dev         bool   `help:"For trying things out: on this machine only, with users who log in at the server itself. Their passwords are printed."`
	DevPassword string `env:"SEQLEASE_DEV_PASSWORD" help:"Give the users of --dev this password instead of printing one for each." placeholder:"PASSWORD"`
}

// apply lets the command line and the environment win over the file.
func (a serveArgs) apply(c *Config) {
	override(&c.Listen, a.Listen)
	override(&c.Store, a.Store)
	override(&c.SpoolDir, a.SpoolDir)
	if a.PoolSize != nil {
		c.PoolSize = *a.PoolSize
	}
	c.ReadOnlyMode = c.ReadOnlyMode || a.ReadOnly
}

// check reports wrong usage. What the file says is checked with the file.
func (a serveArgs) check() error {
	if a.Config == "" && !a.Dev {
		return usagef("missing flags: --config=FILE. To try things out without one: seqlease serve --dev")
	}
	if a.Listen != "" {
		if err := checkListen(a.Listen); err != nil {
			return usagef("--listen: %v", err)
		}
	}
	if a.PoolSize != nil {
		if err := checkPoolSize(*a.PoolSize); err != nil {
			return usagef("--pool-size: %v", err)
		}
	}
	if a.Store != "" {
		if _, err := storeOf(a.Store); err != nil {
			return err
		}
	}
	return nil
}

func override[T comparable](field *T, given T) {
	var none T
	if given != none {
		*field = given
	}
}

// load reads the configuration and lets the command line win.
func (a serveArgs) load(ctx context.Context) (c *Config, err error) {
	if !a.Dev {
		if a.DevPassword != "" {
			return nil, usagef("--dev-password (or SEQLEASE_DEV_PASSWORD) is for the users of --dev: add --dev, or leave it out")
		}
		if c, err = loadConfig(a.Config, os.LookupEnv); err == nil {
			a.apply(c)
		}
		return c, err
	}
	if c, err = loadDevConfig(a.Config, os.LookupEnv); err != nil {
		return nil, err
	}
	a.apply(c)
	c.Dev = &DevConfig{Users: devUsers(a.DevPassword)}
	c.Listen, err = loopbackOnly(ctx, c.Listen, net.DefaultResolver.LookupNetIP)
	return c, err
}

// runServe runs a server until ctx ends, and then lets running requests finish.
func runServe(ctx context.Context, args serveArgs, _ io.Reader, stdout, stderr io.Writer) error {
	if err := args.check(); err != nil {
		return err
	}
	config, err := args.load(ctx)
	if err != nil {
		return err
	}
	address, err := storeOf(config.Store)
	if err != nil {
		return err
	}
	if err := config.Validate(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	defer roomyHeap()()
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	s, err := startServer(ctx, config, logger)
	if err != nil {
		return err
	}
	logger.InfoContext(ctx, "serving", "url", s.URL(), "store", address.kind, "version", version())
	if len(config.Tokens) == 0 && config.OIDC == nil && config.Dev == nil {
		logger.WarnContext(ctx, "no tokens are configured: only what is public can be called")
	}
	if config.Dev != nil {
		if err := printDevUsers(stdout, s.URL(), config.Dev.Users, args.DevPassword != ""); err != nil {
			return errors.Join(err, s.Stop(ctx))
		}
	}
	select {
	case <-ctx.Done():
		logger.InfoContext(ctx, "stopping")
	case <-s.failed:
	}
	return s.Stop(ctx)
}
