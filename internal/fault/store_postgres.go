//go:build linux

package fault

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

// postgresStore is a throw-away server that keeps what it has committed.
type postgresStore struct {
	busy    sync.Mutex // held while something is done to it
	cluster *pgcluster.Cluster
	url     string
	clock   time.Duration // by which its clock is wrong
}

func newPostgresStore(ctx context.Context, clock time.Duration) (*postgresStore, error) {
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{Durable: true, Clock: clock})
	if err != nil {
		return nil, err
	}
	p := &postgresStore{cluster: cluster, clock: clock}
	p.url, err = cluster.NewDatabase(ctx)
	return p, err
}

func (p *postgresStore) address() string { return p.url }

// close saves the server the work of a shutdown in good order.
func (p *postgresStore) close() error {
	_, err := p.cluster.Crash()
	return errors.Join(err, p.cluster.Stop())
}

func (p *postgresStore) open(context.Context) (*sql.DB, error) { return sql.Open("pgx", p.url) }

const postgresQuestion = `
SELECT e.accession, e.version, e.submission_id,
       (SELECT count(*) FROM ticket AS t WHERE t.entry_id = e.id AND t.pipeline_version = 1),
       coalesce(l.attempts, ''), coalesce(r.attempt_id::text, ''),
       EXISTS (SELECT 1 FROM quarantine AS q WHERE q.entry_id = e.id AND q.pipeline_version = 1)
FROM entry AS e
LEFT JOIN result AS r ON r.entry_id = e.id AND r.pipeline_version = 1 AND r.revision = e.revision
LEFT JOIN (SELECT x.entry_id, string_agg(h.attempt_id::text, ',') AS attempts
           FROM lease AS h, unnest(h.entry_ids) AS x(entry_id) WHERE h.pipeline_version = 1 GROUP BY x.entry_id) AS l ON l.entry_id = e.id
WHERE NOT e.is_revocation`

func (p *postgresStore) question() string { return postgresQuestion }

// connect opens a session of its own.
func (p *postgresStore) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, p.url)
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
