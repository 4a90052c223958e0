package witness_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/pgcluster"
	"github.com/seqlease/seqlease/internal/postgres"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/witness"
)

// postgresDatabase is a database as another program sees it.
type postgresDatabase struct {
	pool *pgxpool.Pool
	ids  ids
}

func (d *postgresDatabase) secondVersion(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, `WITH v AS (INSERT INTO pipeline_version (organism_id, version) SELECT id, 2 FROM organism)
		INSERT INTO change (organism_id, scope, bucket, nonce) SELECT id, 2, b, 0 FROM organism, generate_series(0, 15) AS b`)
	return err
}

func (d *postgresDatabase) results(ctx context.Context, v seqlease.PipelineVersion) ([]witness.Part, error) {
	rows, err := d.pool.Query(ctx, `SELECT e.accession, e.version, r.attempt_id FROM result AS r
		JOIN entry AS e ON e.id = r.entry_id AND e.revision = r.revision WHERE r.pipeline_version = $1`, int64(v))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (part witness.Part, err error) {
		return part, row.Scan(&part.Accession, &part.Version, (*[16]byte)(&part.Attempt))
	})
}

func (d *postgresDatabase) running(ctx context.Context) ([]batch, error) {
	rows, err := d.pool.Query(ctx, "SELECT attempt_id, pipeline_version FROM lease WHERE lease_until > clock_timestamp()")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (b batch, err error) {
		return b, row.Scan((*[16]byte)(&b.attempt), &b.v)
	})
}

func (d *postgresDatabase) quarantined(ctx context.Context) ([]witness.Place, error) {
	rows, err := d.pool.Query(ctx, "SELECT e.accession, e.version, q.pipeline_version FROM quarantine AS q JOIN entry AS e ON e.id = q.entry_id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p witness.Place, err error) {
		return p, row.Scan(&p.Accession, &p.Version, &p.Pipeline)
	})
}

func (d *postgresDatabase) learn(ctx context.Context) error {
	rows, err := d.pool.Query(ctx, "SELECT id, accession, version FROM entry")
	if err != nil {
		return err
	}
	var id int64
	var av seqlease.AccessionVersion
	_, err = pgx.ForEachRow(rows, []any{&id, &av.Accession, &av.Version}, func() error { d.ids.put(id, av); return nil })
	return err
}

func (d *postgresDatabase) records(ctx context.Context) ([]witness.Record, error) {
	rows, err := d.pool.Query(ctx, `SELECT attempt_id, pipeline_version, claimed_by, claimed_at, lease_seconds, entry_ids, attempts FROM claim_record`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r witness.Record, err error) {
		var seconds int64
		var entries []int64
		var attempts []int
		err = row.Scan((*[16]byte)(&r.Attempt), &r.Pipeline, &r.User, &r.At, &seconds, &entries, &attempts)
		r.Lease = time.Duration(seconds) * time.Second
		for i, id := range entries {
			r.Parts = append(r.Parts, d.ids.part(id, attempts[i]))
		}
		return r, err
	})
}

// shorten is one statement: what it returns is of the row as it is when it is locked.
func (d *postgresDatabase) shorten(ctx context.Context, id seqlease.AttemptID, within time.Duration) (until time.Time, parts []witness.Part, err error) {
	rows, err := d.pool.Query(ctx, `WITH l AS (
			UPDATE lease SET lease_until = clock_timestamp() + $2 * interval '1 microsecond'
			WHERE attempt_id = $1 AND lease_until > clock_timestamp() + $2 * interval '1 microsecond'
			RETURNING lease_until, entry_ids
		) SELECT e.accession, e.version, l.lease_until FROM l JOIN entry AS e ON e.id = ANY (l.entry_ids)`, [16]byte(id), within.Microseconds())
	if err != nil {
		return until, nil, err
	}
	parts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (part witness.Part, err error) {
		return part, row.Scan(&part.Accession, &part.Version, &until)
	})
	return until, parts, err
}

// newPostgresDesk opens a fresh database.
func newPostgresDesk(t *testing.T, address string) *storeDesk {
	t.Helper()
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	desk, err := newStoreDesk(t.Context(), openPostgres(t, address), &postgresDatabase{pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	return desk
}

func openPostgres(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{Address: address, Retry: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// keep runs a keeper on the store as long as the test.
func keep(t *testing.T, s store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- queue.NewKeeper(s, queue.KeeperOptions{Retry: patience}).Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// startCluster starts the server of all histories, with all that makes commits durable.
func startCluster() (*pgcluster.Cluster, error) {
	return pgcluster.Start(context.Background(), pgcluster.Options{Durable: true})
}

// Two servers' stores in one process, with leases of a second: the most calls.
func TestHistory_L3_TwoPostgresStores(t *testing.T) { //nolint:tparallel // histories of a kind come one after the other
	repeatedly(t, func(t *testing.T) scenario {
		address, err := cluster.NewDatabase(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		desk := newPostgresDesk(t, address)
		keep(t, desk.store)
		var fronts []front
		for range 2 {
			s := openPostgres(t, address)
			if err := s.Register(t.Context(), ferns()); err != nil {
				t.Fatal(err)
			}
			fronts = append(fronts, storefront{s})
		}
		s := wild(desk, storeConsole{desk.store}, fronts...)
		s.canChange, s.lease, s.sweep = true, time.Second, desk.keepOnce
		return s
	}, append(usual(), "edit")...)
}

// usual is what every history has a lot of; else it shows less than it seems to.
func usual() []string {
	return []string{
		"line stored", "line lease-lost", "claimed again", "give-back", "renew", "renew refused", "shorten", "lost", "unanswered",
		"free", "quarantine", "requeue", "reprocess", "pause", "resume", "quarantined",
	}
}
