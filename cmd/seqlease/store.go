package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/seqlease/seqlease/internal/organism"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/sqlite"
	"github.com/seqlease/seqlease/internal/submission"
)

// store is what both stores are.
type store interface {
	queue.Store
	submission.Store
	reprocess.Store
	Register(ctx context.Context, organisms []*organism.Organism) error
	Ready(ctx context.Context) error
	Close() error
}

// The kinds of stores.
const (
	kindSQLite   = "sqlite"
	kindPostgres = "postgres"
)

// databaseTimeout is how long a server that starts waits for PostgreSQL, which may
// be starting, too, or recovering from a crash.
const databaseTimeout = 30 * time.Second

// storeAddress is a parsed --store.
type storeAddress struct {
	kind    string
	address string // file or URL
}

// parseStore reads sqlite:FILE and postgres://…. Addresses may hold passwords,
// so that errors don't repeat them.
func parseStore(text string) (storeAddress, error) {
	if file, found := strings.CutPrefix(text, "sqlite:"); found {
		if file == "" {
			return storeAddress{}, errors.New("sqlite: needs a file, such as sqlite:seqlease.db")
		}
		return storeAddress{kind: kindSQLite, address: file}, nil
	}
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return storeAddress{kind: kindPostgres, address: text}, nil
	}
	return storeAddress{}, errors.New("write sqlite:FILE or postgres://USER@HOST/DATABASE")
}

// open opens the store, which rings the bell. SQLite brings its schema up by itself; PostgreSQL is
// waited for, and refused until `seqlease migrate up` has done so.
func (a storeAddress) open(ctx context.Context, c *Config, bell *queue.Bell, logger *slog.Logger) (store, error) {
	if a.kind == kindPostgres {
		s, err := postgres.Open(ctx, postgres.Options{
			Address: a.address, MaxConnections: c.PoolSize, Retry: c.retry(), Bell: bell, Logger: logger, WaitFor: databaseTimeout,
		})
		if err != nil {
			return nil, err // not a nil *postgres.Store in the interface
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: a.address, Retry: c.retry(), Bell: bell, Logger: logger})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// migrate brings the schema up.
func (a storeAddress) migrate(ctx context.Context) error {
	if a.kind == kindPostgres {
		return postgres.Migrate(ctx, a.address)
	}
	return sqlite.Migrate(ctx, a.address)
}

// migration is a step of a schema, in the form of `seqlease migrate status --json`.
type migration struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// migrations lists the steps of the schema in order.
func (a storeAddress) migrations(ctx context.Context) ([]migration, error) {
	var list []migration
	if a.kind == kindPostgres {
		steps, err := postgres.MigrationStatus(ctx, a.address)
		if err != nil {
			return nil, err
		}
		for _, m := range steps {
			list = append(list, migration{Version: m.Version, Name: m.Name, Applied: !m.AppliedAt.IsZero()})
		}
		return list, nil
	}
	steps, err := sqlite.MigrationStatus(ctx, a.address)
	if err != nil {
		return nil, err
	}
	for _, m := range steps {
		list = append(list, migration(m))
	}
	return list, nil
}

// storeOf parses the flag --store; a mistake in it is wrong usage.
func storeOf(text string) (storeAddress, error) {
	a, err := parseStore(text)
	if err != nil {
		return storeAddress{}, &usageError{message: fmt.Sprintf("--store: %v", err)}
	}
	return a, nil
}
