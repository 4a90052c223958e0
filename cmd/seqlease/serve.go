package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
)

type serveArgs struct {
	Config   string `required:"" type:"path" help:"Configuration file, YAML or JSON." placeholder:"FILE"`
	Listen   string `env:"SEQLEASE_LISTEN" help:"Address to listen on; 127.0.0.1:8079 unless the file says otherwise. Other machines reach the server only on an address that isn't loopback." placeholder:"HOST:PORT"`
	Store    string `env:"SEQLEASE_STORE" help:"sqlite:FILE or postgres://…; sqlite:seqlease.db unless the file says otherwise." placeholder:"STORE"`
	SpoolDir string `env:"SEQLEASE_SPOOL_DIR" type:"path" help:"Directory for uploads and downloads under way; the system's for temporary files unless the file says otherwise." placeholder:"DIR"`
	PoolSize *int   `env:"SEQLEASE_POOL_SIZE" help:"Connections to PostgreSQL; 8 unless the file says otherwise." placeholder:"N"`
	ReadOnly bool   `env:"SEQLEASE_READ_ONLY" help:"Answer writes with 503, as readOnlyMode in the file does."`
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

// runServe runs a server until ctx ends, and then lets running requests finish.
func runServe(ctx context.Context, args serveArgs, _ io.Reader, _, stderr io.Writer) error {
	if err := args.check(); err != nil {
		return err
	}
	config, err := loadConfig(args.Config, os.LookupEnv)
	if err != nil {
		return err
	}
	args.apply(config)
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
	if len(config.Tokens) == 0 {
		logger.WarnContext(ctx, "no tokens are configured: only what is public can be called")
	}
	select {
	case <-ctx.Done():
		logger.InfoContext(ctx, "stopping")
	case <-s.failed:
	}
	return s.Stop(ctx)
}
