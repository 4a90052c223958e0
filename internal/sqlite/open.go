package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
	"github.com/seqlease/seqlease/internal/seqcodec"
)

// Options say which store to open.
type Options struct {
	Path   string // of the database file; it is made if it isn't there
	Logger *slog.Logger
	Retry  queue.Retry // zero: [queue.DefaultRetry]
	// Bell is rung after each commit that added to a queue; nil: nobody listens.
	Bell *queue.Bell
}

// maxReaders bounds the snapshots that are read at once; further reads wait.
const maxReaders = 16

// maxLongReads bounds those among them that last as long as there is data, so
// that claims always find a reader.
const maxLongReads = maxReaders / 2

// Store is the embedded store. It may be used concurrently.
type Store struct {
	path   string
	logger *slog.Logger
	lock   *fileLock
	writer *writer
	reader *sql.DB
	long   *semaphore.Weighted  // of maxLongReads
	reads  map[string]*sql.Stmt // by the name of the file in sql/
	codec  *seqcodec.Codec
	full   atomic.Bool // the last write found no room
	retry  queue.Retry
	bell   *queue.Bell

	mu           sync.RWMutex
	dictionaries dictionaries

	growing  held[seqlease.Accession] // accessions of which a version is added
	deciding held[seqlease.Organism]  // organisms of which entries are deleted, or very many released
	keys     held[userKey]            // of uploads under way
	changes  changes                  // beside large approvals

	turnsMu sync.Mutex
	turns   map[claimedQueue]claimTurns
}

var (
	_ queue.Store         = (*Store)(nil)
	_ queue.RenewStore    = (*Store)(nil)
	_ queue.WaitStore     = (*Store)(nil)
	_ queue.KeeperStore   = (*Store)(nil)
	_ queue.OperatorStore = (*Store)(nil)
)

// Open opens the store, brings its schema up, removes what crashed uploads and
// deletions left, and ends approvals. The file belongs to this store alone until [Store.Close]: a second
// process is refused with the reason. New files can be read by their owner only.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Retry == (queue.Retry{}) {
		o.Retry = queue.DefaultRetry
	}
	if err := o.Retry.Check(); err != nil {
		return nil, fmt.Errorf("open store %s: %w", o.Path, err)
	}
	path, lock, err := claimFile(o.Path)
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, logger: o.Logger, lock: lock, codec: seqcodec.New(), long: semaphore.NewWeighted(maxLongReads),
		retry: o.Retry, bell: o.Bell, turns: map[claimedQueue]claimTurns{},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, storeError(err)), s.Close()) //nolint:contextcheck // the end must not be cut short
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	db, err := sql.Open("sqlite", writerDSN(s.path))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err := checkEngine(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := migrate(ctx, db, s.logger); err != nil {
		return errors.Join(err, db.Close())
	}
	if s.writer, err = startWriter(ctx, db, s.path); err != nil {
		return errors.Join(err, db.Close())
	}
	if s.reader, err = sql.Open("sqlite", readerDSN(s.path)); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(maxReaders)
	s.reader.SetMaxIdleConns(maxReaders)
	if s.reads, err = prepareReads(ctx, s.reader); err != nil {
		return err
	}
	if err := s.loadDictionaries(ctx); err != nil {
		return err
	}
	return s.removeLeftovers(ctx)
}

// Close gives up the file, which holds everything then. Writes that still wait
// are refused.
func (s *Store) Close() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	return errors.Join(append(errs, s.lock.release())...)
}

// Ready says whether the database answers and, if the last write found no room,
// whether there is some again. Its schema is current since [Open].
func (s *Store) Ready(ctx context.Context) error {
	if _, err := s.Now(ctx); err != nil {
		return fmt.Errorf("store %s is not ready: %w", s.path, err)
	}
	if err := s.writer.log.failure(); err != nil {
		return fmt.Errorf("store %s is not ready: %w", s.path, storeError(err))
	}
	if !s.full.Load() {
		return nil
	}
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		_, err := t.exec(ctx, "probe_room")
		return err
	})
	if err != nil {
		return fmt.Errorf("store %s is not ready: %w", s.path, err)
	}
	return nil
}

// claimFile makes the file if need be and locks it for this process.
func claimFile(path string) (string, *fileLock, error) {
	if path == "" {
		return "", nil, errors.New("open store: the path of the database file is missing")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", nil, fmt.Errorf("open store %s: %w", path, err)
	}
	file, err := os.OpenFile(absolute, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("open store: %w", err)
	}
	if err := file.Close(); err != nil {
		return "", nil, fmt.Errorf("open store: %w", err)
	}
	// Two names of one file share one lock.
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", nil, fmt.Errorf("open store: %w", err)
	}
	lock, err := lockFile(resolved + ".lock")
	if err != nil {
		return "", nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return resolved, lock, nil
}

// exists says whether the file is there and isn't empty.
func exists(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// writerDSN opens the one writer. synchronous=FULL makes each commit durable, those
// of migrations too, until the writer sees to that in its own way ([walSync]).
// auto_vacuum=INCREMENTAL lets a file shrink; it must be chosen before the first
// table. The busy timeout is for outsiders such as a sqlite3 shell only. Writing goes
// to the same few pages, and a cache of 64 MiB made a drain slower: each new page
// then takes memory that isn't in the processor's caches.
func writerDSN(path string) string {
	return dsn(path, url.Values{
		"_pragma": {
			"busy_timeout(5000)", "auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"journal_size_limit(67108864)", "cache_size(-8192)",
		},
		"_txlock": {"immediate"},
	})
}

// readerDSN opens a reader, which can't write whatever the statement. There are up to
// 32 of them, and each fills its cache: 2 MiB hold the upper pages of all indexes of a
// large store, and the operating system has the others in memory for all of them.
func readerDSN(path string) string {
	return dsn(path, url.Values{"_pragma": {"busy_timeout(5000)", "cache_size(-2048)"}, "mode": {"ro"}})
}

func dsn(path string, query url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
}

// checkEngine refuses an engine before SQLite 3.42: its unixepoch('subsec')
// answers NULL, and every comparison with the clock would fail silently.
func checkEngine(ctx context.Context, db *sql.DB) error {
	var version string
	var now sql.NullFloat64
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version(), unixepoch('subsec')").Scan(&version, &now); err != nil {
		return err
	}
	return checkVersion(version, now.Valid)
}

func checkVersion(version string, hasClock bool) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("SQLite has the odd version %q: %w", version, err)
	}
	if major < 3 || (major == 3 && minor < 42) || !hasClock {
		return fmt.Errorf("SQLite %s is too old: 3.42 or later is needed", version)
	}
	return nil
}
