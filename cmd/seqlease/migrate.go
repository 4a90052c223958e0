package main

import (
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type migrateArgs struct {
	Up     migrateUpArgs     `cmd:"" help:"Bring the schema up to date. Example: seqlease migrate up --store postgres://user@host/seqlease"`
	Status migrateStatusArgs `cmd:"" help:"List the migrations and which are applied. Example: seqlease migrate status --store sqlite:seqlease.db --json"`
}

type migrateUpArgs struct {
	Store string `required:"" env:"SEQLEASE_STORE" help:"sqlite:FILE or postgres://…" placeholder:"STORE"`
}

type migrateStatusArgs struct {
	Store string `required:"" env:"SEQLEASE_STORE" help:"sqlite:FILE or postgres://…" placeholder:"STORE"`
	JSON  bool   `name:"json" help:"Print one JSON list."`
}

// runMigrateUp applies what is missing and says what was done.
func runMigrateUp(ctx context.Context, args migrateUpArgs, _ io.Reader, _, stderr io.Writer) error {
	address, err := storeOf(args.Store)
	if err != nil {
		return err
	}
	before, err := address.migrations(ctx)
	if err != nil {
		return err
	}
	if err := address.migrate(ctx); err != nil {
		return err
	}
	applied := 0
	for _, m := range before {
		if !m.Applied {
			applied++
		}
	}
	_, err = fmt.Fprintf(stderr, "seqlease: %s applied, the schema of the %s store is current\n", count(applied, "migration"), address.kind)
	return err
}

// runMigrateStatus lists the migrations.
func runMigrateStatus(ctx context.Context, args migrateStatusArgs, _ io.Reader, stdout, _ io.Writer) error {
	address, err := storeOf(args.Store)
	if err != nil {
		return err
	}
	list, err := address.migrations(ctx)
	if err != nil {
		return err
	}
	if args.JSON {
		return writeJSON(stdout, list)
	}
	for _, m := range list {
		state := "pending"
		if m.Applied {
			state = "applied"
		}
		if _, err := fmt.Fprintf(stdout, "%4d  %s  %s\n", m.Version, state, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes one indented document with a line end.
func writeJSON(w io.Writer, document any) error {
	text, err := json.Marshal(document, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
