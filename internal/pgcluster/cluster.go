package pgcluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// addressVariable names the environment variable that points at a running
// server to be used instead of a fresh one.
const addressVariable = "SEQLEASE_TEST_POSTGRES"

// Options say what kind of server is wanted.
type Options struct {
	// Durable keeps fsync, synchronous_commit and full_page_writes on, as fault
	// tests and benchmarks need. Without it commits are faster and a crash of the
	// machine, not of the server, may lose them.
	Durable bool
	// Settings are further server settings, "name=value" each. They win over our own,
	// such as max_connections=200.
	Settings []string
	// Clock is by how much the server's clock is wrong. It takes libfaketime, see
	// [ClockLibrary].
	Clock time.Duration
}

// Cluster is a running PostgreSQL server. Its methods may be called concurrently.
type Cluster struct {
	admin  string  // address of the database "postgres" on it
	server *server // nil if the server was there already

	mu        sync.Mutex
	databases []string // made on a server that was there already, dropped by Stop

	preparing sync.Mutex
	prepared  map[string]string // names of databases by how they were prepared
}

// Start starts a server with an empty data directory and waits until it
// answers, which takes about a second. The server ends with [Cluster.Stop] or
// with this process. An error says how to install PostgreSQL if it is missing.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if address := os.Getenv(addressVariable); address != "" {
		if o.Clock != 0 {
			return nil, fmt.Errorf("%w: its clock can't be set", ErrNotOurs)
		}
		if _, err := url.Parse(address); err != nil {
			return nil, fmt.Errorf("%s is not an address such as postgres://user@host/postgres", addressVariable)
		}
		return &Cluster{admin: address}, nil
	}
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s, err := startServer(ctx, bin, o)
	if err != nil {
		return nil, fmt.Errorf("start a PostgreSQL server: %w", err)
	}
	return &Cluster{admin: s.address("postgres"), server: s}, nil
}

// NewDatabase makes an empty database and returns its address
// ("postgres://…"). Text in it sorts by bytes.
func (c *Cluster) NewDatabase(ctx context.Context) (string, error) {
	return c.create(ctx, "template0 ENCODING 'UTF8' LOCALE 'C'")
}

// NewDatabaseAs makes a copy of a database that prepare has been given, such as one
// with a schema, and returns its address. The first call with a key prepares it:
// copying takes as long as making an empty one. prepare must leave no connection.
func (c *Cluster) NewDatabaseAs(ctx context.Context, key string, prepare func(ctx context.Context, address string) error) (string, error) {
	template, err := c.template(ctx, key, prepare)
	if err != nil {
		return "", err
	}
	return c.create(ctx, template)
}

// template returns the name of the prepared database.
func (c *Cluster) template(ctx context.Context, key string, prepare func(ctx context.Context, address string) error) (string, error) {
	c.preparing.Lock()
	defer c.preparing.Unlock()
	if name, known := c.prepared[key]; known {
		return name, nil
	}
	address, err := c.NewDatabase(ctx)
	if err != nil {
		return "", err
	}
	if err := prepare(ctx, address); err != nil {
		return "", fmt.Errorf("prepare a database: %w", err)
	}
	if c.prepared == nil {
		c.prepared = map[string]string{}
	}
	made, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the server's address is not a URL")
	}
	c.prepared[key] = strings.TrimPrefix(made.Path, "/")
	return c.prepared[key], nil
}

// create makes a database from a template, which may be followed by options.
func (c *Cluster) create(ctx context.Context, template string) (_ string, err error) {
	name := "seqlease_" + strings.ToLower(rand.Text()[:16])
	connection, err := pgx.Connect(ctx, c.admin)
	if err != nil {
		return "", fmt.Errorf("connect to make a database: %w", err)
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
	if _, err := connection.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", fmt.Errorf("make a database: %w", err)
	}
	if c.server == nil {
		c.mu.Lock()
		c.databases = append(c.databases, name)
		c.mu.Unlock()
	}
	address, err := url.Parse(c.admin)
	if err != nil {
		return "", errors.New("the server's address is not a URL")
	}
	address.Path = "/" + name
	return address.String(), nil
}

// ErrNotOurs says that a server which was there already is left alone.
var ErrNotOurs = errors.New("a server that was there already is left alone")

// Kill ends the server as kill -9 does, without a shutdown, and starts it again
// on the same data and port; it returns once the server answers. The error is
// [ErrNotOurs] unless the server is our own.
func (c *Cluster) Kill(ctx context.Context) error {
	if c.server == nil {
		return ErrNotOurs
	}
	return errors.Join(c.server.end(killed), c.server.again(ctx))
}

// Stop shuts the server down and removes its files, or drops the databases made
// on a server that was there already. Calling it again does nothing.
func (c *Cluster) Stop() (err error) {
	if c.server != nil {
		return c.server.stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.databases) == 0 {
		return nil
	}
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, c.admin)
	if err != nil {
		return fmt.Errorf("connect to drop the databases: %w", err)
	}
	defer func() { err = errors.Join(err, connection.Close(ctx)) }()
	for _, name := range c.databases {
		if _, err := connection.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return fmt.Errorf("drop a database: %w", err)
		}
	}
	c.databases = nil
	return nil
}

// binaries finds the directory of initdb and postgres: the newest version where
// Debian installs them, else where PATH says.
func binaries() (string, error) {
	// The pattern is constant, so Glob can't fail.
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int {
			// "9.6" < "15": a longer version directory is a newer one.
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
		return filepath.Dir(newest), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server is installed here: run `apt-get install postgresql`, or set %s to the address of a running one", addressVariable)
}
