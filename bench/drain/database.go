package drain

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease/bench/measure"
)

//go:embed sql/*.sql
var statements embed.FS

// statement is the text of a statement by its name.
func statement(name string) string { return measure.Statement(statements, name) }

// database is what all designs do alike.
type database struct{ pool *pgxpool.Pool }

// openPool opens as many connections as every design has, and runs the statements
// that make its tables.
func openPool(ctx context.Context, address string, schemas ...string) (d database, err error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return d, err
	}
	config.MaxConns = Connections
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return d, err
	}
	for _, name := range schemas {
		if _, err := d.pool.Exec(ctx, statement(name)); err != nil {
			d.close()
			return d, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d, nil
}

func (d database) close() { d.pool.Close() }

// inDatabase runs f with the address of an empty database, on a server that has
// nothing left to write.
func inDatabase(ctx context.Context, b *measure.Bench, f func(address string) (measure.Sample, error)) (measure.Sample, error) {
	address, drop, err := b.Database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	if err := b.Checkpoint(ctx, address); err != nil {
		return nil, err
	}
	return f(address)
}

func (d database) wal(ctx context.Context) (n int64, err error) {
	err = d.pool.QueryRow(ctx, statement("wal")).Scan(&n)
	return n, err
}

func (d database) tidy(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, statement("tidy"))
	return err
}

// checkWith asks the statement how many results there are of entries 1 to done, how
// many of them aren't what they should be, and how many entries aren't processed.
func (d database) checkWith(ctx context.Context, name string, size, done, left int) error {
	var results, right, open int
	if err := d.pool.QueryRow(ctx, statement(name), size, done).Scan(&results, &right, &open); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if results != done || right != done || open != left {
		return fmt.Errorf("check: %d results, of which %d are what entries 1 to %d should have, and %d entries not processed, want %d", results, right, done, open, left)
	}
	return nil
}
