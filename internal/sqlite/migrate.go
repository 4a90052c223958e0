package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migration/*.sql
var migrationFiles embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string // of its file
	Applied bool
}

// Migrate brings the schema of the store at path up, and makes the store if it
// isn't there. It needs the file for itself, as [Open] does, which does the same.
func Migrate(ctx context.Context, path string) error {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	return s.Close() //nolint:contextcheck // the end must not be cut short
}

// MigrationStatus lists the steps of the schema in order, and whether the store
// at path has taken them. It changes nothing and may run beside a server.
func MigrationStatus(ctx context.Context, path string) ([]Migration, error) {
	list, err := migrationStatus(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("migration status of %s: %w", path, storeError(err))
	}
	return list, nil
}

func migrationStatus(ctx context.Context, path string) ([]Migration, error) {
	present, err := exists(path)
	if err != nil {
		return nil, err
	}
	address := readerDSN(path)
	if !present {
		address = "file::memory:" // has taken none either
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	db.SetMaxOpenConns(1)
	provider, err := newProvider(db)
	if err != nil {
		return nil, err
	}
	steps, err := provider.Status(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Migration, len(steps))
	for i, step := range steps {
		list[i] = Migration{Version: step.Source.Version, Name: step.Source.Path, Applied: step.State == goose.StateApplied}
	}
	return list, nil
}

// migrate takes the missing steps. Nobody else has the file meanwhile.
func migrate(ctx context.Context, db *sql.DB, logger *slog.Logger) error {
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	current, newest, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if current > newest {
		return fmt.Errorf("its schema has version %d, but this seqlease knows %d only: use the newer seqlease", current, newest)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, r := range results {
		logger.InfoContext(ctx, "schema migrated", "migration", r.Source.Path, "took", r.Duration)
	}
	return nil
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrationFiles, "migration")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
}
