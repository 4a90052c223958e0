package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/reprocess"
	"github.com/seqlease/seqlease/internal/seqcodec"
	"github.com/seqlease/seqlease/internal/submission"
)

var (
	_ queue.Store         = (*Store)(nil)
	_ queue.RenewStore    = (*Store)(nil)
	_ queue.WaitStore     = (*Store)(nil)
	_ queue.OperatorStore = (*Store)(nil)
	_ queue.KeeperStore   = (*Store)(nil)
	_ submission.Store    = (*Store)(nil)
)

// defaultConnections is the size of the pool: more don't help (on two cores 64
// gave a 4 to 8 times worse p99 and no throughput).
const defaultConnections = 8

// Options say where the database is.
type Options struct {
	// Address is a URL ("postgres://user@host/database") or a list of keywords.
	// It may set default_query_exec_mode=exec, for poolers that don't keep
	// prepared statements. Of several hosts the one that takes writes is meant.
	Address        string
	MaxConnections int // of this process; 0: 8
	Logger         *slog.Logger
	// WaitFor is how long [Open] waits for a database that can't be reached yet, or
	// takes no writes.
	WaitFor time.Duration
	Retry   queue.Retry // zero: [queue.DefaultRetry]
	Bell    *queue.Bell // rung when something was added to a queue; may be nil
}

// Store is a database that this process works with. It may be used concurrently.
type Store struct {
	pool   *pgxpool.Pool
	codec  *seqcodec.Codec
	logger *slog.Logger
	shares shares
	full   fullness
	resets resets
	limits queue.Retry
	bell   *queue.Bell
	// freshClaims, acceptances and glances at queues go to the database together.
	freshClaims *gathering[memoryKey, *freshClaim]
	acceptances *gathering[acceptKey, *acceptance]
	glances     *gathering[memoryKey, *glance]
	// ticketLooks paces what waiting claims ask for.
	ticketLooks ticketLooks
	// repetitions counts transactions that were tried again, over all calls.
	repetitions atomic.Int64

	mu           sync.RWMutex
	organisms    map[seqlease.Organism]knownOrganism
	dictionaries map[int64][]byte
	memories     map[memoryKey]*memory
	// outdated are old versions, each with the transaction id that was the next when it
	// was first seen to be one.
	outdated map[reprocess.Version]int64
}

// knownOrganism is what never changes of an organism, and the dictionary that
// this process compresses with.
type knownOrganism struct {
	id         int32
	registered bool // by this process, so that dictionary is known
	dictionary seqcodec.Dictionary
}

//go:embed sql/schema_version.sql
var schemaVersionSQL string

//go:embed sql/now.sql
var nowSQL string

//go:embed sql/organism_id.sql
var organismIDSQL string

//go:embed sql/takes_writes.sql
var takesWritesSQL string

// Open connects to the database and checks its schema. If that is older than
// this program needs, the error names the command that migrates it.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Retry == (queue.Retry{}) {
		o.Retry = queue.DefaultRetry
	}
	if err := o.Retry.Check(); err != nil {
		return nil, fmt.Errorf("open the database: retry: %w", err)
	}
	config, err := poolConfig(o)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", translate(err))
	}
	s := &Store{
		pool: pool, codec: seqcodec.New(), logger: o.Logger, shares: newShares(config.MaxConns),
		organisms:    map[seqlease.Organism]knownOrganism{},
		dictionaries: map[int64][]byte{0: nil},
		memories:     map[memoryKey]*memory{},
		limits:       o.Retry, bell: o.Bell,
	}
	s.freshClaims = newGathering(statementsAtOnce(config.MaxConns), fitsClaims, s.claimFreshTogether)
	s.acceptances = newGathering(statementsAtOnce(config.MaxConns), fitsAcceptances, s.acceptTogether)
	s.glances = newGathering(1, func([]*glance, *glance) bool { return true }, s.peekTogether)
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := s.await(ctx, o.WaitFor); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return s, nil
}

// poolConfig reads the address. Errors don't repeat it, as it may hold a password.
func poolConfig(o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.Address)
	if err != nil {
		return nil, errors.New("the database address is not valid: write postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	config.MaxConns = int32(min(max(o.MaxConnections, 0), 10_000))
	if config.MaxConns == 0 {
		config.MaxConns = defaultConnections
	}
	config.ConnConfig.RuntimeParams["application_name"] = "seqlease"
	config.PingTimeout = pingTimeout
	if connect := config.ConnConfig; connect.ValidateConnect == nil &&
		slices.ContainsFunc(connect.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != connect.Host || f.Port != connect.Port }) {
		connect.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config, nil
}

// Ready says whether the database answers, takes writes and has the schema that
// this program needs, and whether it had room of late. A newer schema is fine: older servers
// keep running during an upgrade.
func (s *Store) Ready(ctx context.Context) error {
	var version int64
	err := s.with(ctx, func(c *pgxpool.Conn) error {
		var takesWrites bool
		if err := c.QueryRow(ctx, takesWritesSQL).Scan(&takesWrites); err != nil {
			return err
		}
		if !takesWrites {
			return errReadOnly // nobody may write any more who would find out
		}
		return c.QueryRow(ctx, schemaVersionSQL).Scan(&version)
	})
	if err != nil && !isUndefinedTable(err) {
		return err
	}
	if s.full.recent() {
		return seqlease.Explain(seqlease.ErrStorageFull, "the disk of the database was full less than %s ago", fullFor)
	}
	if want := newestMigration(); version < want {
		return fmt.Errorf("the database has schema version %d and this program needs %d: run `seqlease migrate up`", version, want)
	}
	return nil
}

// Now returns the instant of the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error { return c.QueryRow(ctx, nowSQL).Scan(&now) })
	})
	return now.UTC(), err
}

// Close waits until every connection is back in the pool and closes it.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// organism returns what is known of the organism, or
// [seqlease.ErrUnknownOrganism].
func (s *Store) organism(ctx context.Context, key seqlease.Organism) (knownOrganism, error) {
	s.mu.RLock()
	o, known := s.organisms[key]
	s.mu.RUnlock()
	if known {
		return o, nil
	}
	err := s.with(ctx, func(c *pgxpool.Conn) error {
		return c.QueryRow(ctx, organismIDSQL, pgx.StrictNamedArgs{"key": string(key)}).Scan(&o.id)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return o, queue.UnknownOrganism(key)
	}
	if err != nil {
		return o, fmt.Errorf("look up organism %s: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if registered, known := s.organisms[key]; known {
		return registered, nil
	}
	s.organisms[key] = o
	return o, nil
}
