package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migration/*.sql
var migrations embed.FS

// migrationLockTimeout bounds how long a migration waits for a lock: while it
// waits, everybody behind it waits, too.
const migrationLockTimeout = "5s"

// Migration is one version of the schema.
type Migration struct {
	Version   int64
	Name      string    // file name
	AppliedAt time.Time // by the database's clock; zero: not applied
}

// Migrate brings the schema up to this program's version. Servers may run
// meanwhile, and several may migrate at once: one does it, the others wait.
func Migrate(ctx context.Context, address string) error {
	return withProvider(address, func(p *goose.Provider) error {
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("migrate the database: %w", translate(err))
		}
		return nil
	})
}

// MigrationStatus lists the versions of the schema in order and whether they
// are applied.
func MigrationStatus(ctx context.Context, address string) ([]Migration, error) {
	var list []Migration
	err := withProvider(address, func(p *goose.Provider) error {
		status, err := p.Status(ctx)
		if err != nil {
			return fmt.Errorf("read the state of the schema: %w", translate(err))
		}
		for _, s := range status {
			list = append(list, Migration{Version: s.Source.Version, Name: s.Source.Path, AppliedAt: s.AppliedAt})
		}
		return nil
	})
	return list, err
}

func withProvider(address string, f func(*goose.Provider) error) (err error) {
	config, err := poolConfig(Options{Address: address})
	if err != nil {
		return err
	}
	connect := config.ConnConfig
	connect.RuntimeParams["lock_timeout"] = migrationLockTimeout
	db := stdlib.OpenDB(*connect)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	return f(provider)
}

// newProvider reads the embedded migrations. The lock is a row, not session
// state, so that a pooler in transaction mode may stand in between.
func newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migration")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(time.Second, 300), lock.WithTableLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLocker(locker), goose.WithSlog(slog.New(slog.DiscardHandler)))
}

// newestMigration is the version of the schema that this program needs.
func newestMigration() int64 {
	names, err := fs.Glob(migrations, "migration/*.sql")
	if err != nil || len(names) == 0 {
		panic("no embedded migrations")
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(names[len(names)-1], "migration/"), "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic("migration without a number: " + err.Error())
	}
	return version
}
