package measure

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease/internal/pgcluster"
)

// Settings are those of every PostgreSQL database that a contender gets, beside
// pgcluster's durable ones: the defaults of a server that is a little tuned.
func Settings() []string {
	return []string{"shared_buffers=1GB", "max_wal_size=8GB", "max_connections=200", "shared_preload_libraries=pg_stat_statements"}
}

// Bench is what contenders run on.
type Bench struct {
	// Cluster has fsync, synchronous_commit and full_page_writes on.
	Cluster *pgcluster.Cluster
	// Server is the seqlease program, for what is measured through real servers.
	Server string
	// Dir is for files; each contender makes its own below it.
	Dir string
	// Quick asks for little work: the figures mean nothing, only that all is there.
	Quick bool
	// NodePeers says that peers which need Node may be fetched and run.
	NodePeers bool
	// Plans is a directory for the plans of the statements whose cost is looked at; empty: none are kept.
	Plans string
	// Tell gets the story, a line at a time.
	Tell func(format string, arguments ...any)
}

// Size is how much work a contender does: all of it, or a small part when quick.
func (b *Bench) Size(all, quick int) int {
	if b.Quick {
		return quick
	}
	return all
}

// Database makes an empty database for one run and returns its address and what
// removes it.
func (b *Bench) Database(ctx context.Context) (address string, drop func(), err error) {
	if address, err = b.Cluster.NewDatabase(ctx); err != nil {
		return "", nil, err
	}
	return address, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := dropDatabase(ctx, address); err != nil {
			b.Tell("a database stays until the end: %v", err)
		}
	}, nil
}

func dropDatabase(ctx context.Context, address string) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	name := config.Database
	config.Database = "postgres"
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // it was only used to drop
	_, err = c.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	return err
}

// Checkpoint writes everything dirty to disk, so that no contender pays for the
// one before it.
func (b *Bench) Checkpoint(ctx context.Context, address string) error {
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // it was only used for this
	_, err = c.Exec(ctx, "CHECKPOINT")
	return err
}

// Teller tells on w, with the time since the start.
func Teller(w io.Writer) func(string, ...any) {
	began := time.Now()
	return func(format string, arguments ...any) {
		line := strings.TrimRight(fmt.Sprintf(format, arguments...), "\n")
		_, _ = fmt.Fprintf(w, "%7.1f s  %s\n", time.Since(began).Seconds(), line) // a lost line harms nothing
	}
}
