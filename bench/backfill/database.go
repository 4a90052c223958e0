package backfill

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/postgres"
)

//go:embed sql/*.sql
var statements embed.FS

// statement is the text of a statement by its name.
func statement(name string) string { return measure.Statement(statements, name) }

const (
	bench seqlease.Organism = "bench"
	// groups take turns in blocks of 500 entries.
	groups = 20
	// documentBytes is what a compressed genome takes, and its result.
	documentBytes = 300
)

// organisms is the one of the bench.
func organisms() (*organism.Catalog, error) {
	return organism.NewCatalog(&organism.Organism{Key: bench, DisplayName: "Bench virus", ConsensusSequences: true})
}

// database is a filled one.
type database struct {
	address string
	entries int
	admin   *pgx.Conn
}

// fill makes a database with so many entries: nine of ten are processed, the others wait, and
// three of five are released. It is as vacuumed as one that is in use, and has nothing left to write.
func fill(ctx context.Context, b *measure.Bench, address string, entries int) (d *database, err error) {
	if err := postgres.Migrate(ctx, address); err != nil {
		return nil, err
	}
	s, err := postgres.Open(ctx, postgres.Options{Address: address})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	catalog, err := organisms()
	if err != nil {
		return nil, err
	}
	if err := s.Register(ctx, catalog.All()); err != nil {
		return nil, err
	}
	for i := range groups {
		if _, err := s.CreateGroup(ctx, seqlease.NewGroup{GroupName: fmt.Sprintf("Group %d", i)}, "anna"); err != nil {
			return nil, err
		}
	}
	packed, err := s.Pack(bench, document())
	if err != nil {
		return nil, err
	}
	d = &database{address: address, entries: entries}
	if d.admin, err = pgx.Connect(ctx, address); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		name      string
		arguments []any
	}{
		{"entries", []any{entries, packed.Bytes, packed.Dictionary, groups}},
		{"results", []any{packed.Dictionary, packed.Bytes}},
		{"tickets", nil},
		{"turns", nil},
		{"numbers", []any{entries}},
	} {
		if _, err := d.admin.Exec(ctx, statement(step.name), step.arguments...); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", step.name, err), d.close(ctx))
		}
	}
	if _, err := d.admin.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	return d, b.Checkpoint(ctx, address)
}

// document doesn't get smaller when it is compressed.
func document() []byte {
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same each time
	text := make([]byte, 0, documentBytes*4/3)
	for range documentBytes * 4 / 3 {
		text = append(text, byte('0'+random.IntN(64)))
	}
	return text
}

// close closes the connection.
func (d *database) close(ctx context.Context) error { return d.admin.Close(context.WithoutCancel(ctx)) }

// check wants every entry in one place under version 2.
func (d *database) check(ctx context.Context) error {
	var missing, twice int
	if err := d.admin.QueryRow(ctx, statement("missing")).Scan(&missing, &twice); err != nil {
		return err
	}
	if missing != 0 || twice != 0 {
		return fmt.Errorf("check: %d entries have no place under the new version, and %d have one too many", missing, twice)
	}
	return nil
}
