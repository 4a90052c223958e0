//go:build linux

package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// diskSize is the size of the disk of an embedded store: enough for a soak of
// hours, and filled within a second.
const diskSize = "512m"

// sqliteStore is an embedded store, on a disk of its own where this process may
// mount one.
type sqliteStore struct {
	busy sync.Mutex // held while something is done to its disk
	path string
	disk string // its mount point; empty: it has no disk of its own
}

func newSQLiteStore(dir string) (*sqliteStore, error) {
	s := &sqliteStore{path: filepath.Join(dir, "fault.db")}
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize)
	switch {
	case err == nil:
		s.disk = dir
	case !errors.Is(err, syscall.EPERM):
		return nil, fmt.Errorf("mount a small disk: %w", err)
	}
	return s, nil
}

func (s *sqliteStore) address() string { return "sqlite:" + s.path }

func (s *sqliteStore) close() error {
	if s.disk == "" {
		return nil
	}
	return syscall.Unmount(s.disk, 0)
}

func (s *sqliteStore) open(context.Context) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+s.path+"?mode=ro&_pragma=busy_timeout(5000)")
}

// A run of tickets stands for one of each of its entries that is in no other place.
const sqliteQuestion = `
SELECT x.accession, x.version, x.submission_id,
       x.tickets + (x.tickets = 0 AND x.leases = '' AND x.result = '' AND EXISTS (
           SELECT 1 FROM ticket_run AS u WHERE u.pipeline_version = 1 AND x.id BETWEEN u.first_entry_id AND u.last_entry_id)),
       x.leases, x.result, EXISTS (SELECT 1 FROM quarantine AS q WHERE q.entry_id = x.id AND q.pipeline_version = 1)
FROM (SELECT e.id, e.accession, e.version, e.submission_id,
             (SELECT count(*) FROM ticket AS t WHERE t.entry_id = e.id AND t.pipeline_version = 1) AS tickets,
             coalesce((SELECT group_concat(lower(hex(l.attempt_id))) FROM leased AS l
                       WHERE l.entry_id = e.id AND l.pipeline_version = 1), '') AS leases,
             coalesce((SELECT lower(hex(r.attempt_id)) FROM result AS r
                       WHERE r.entry_id = e.id AND r.pipeline_version = 1 AND r.revision = e.revision), '') AS result
      FROM published_entry AS e
      WHERE e.is_revocation = 0) AS x`

func (s *sqliteStore) question() string { return sqliteQuestion }

// fill takes up all the room that is left on the disk, and returns how to give it
// back.
func (s *sqliteStore) fill() (free func() error, err error) {
	path := filepath.Join(s.disk, "filler")
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	free = func() error { return errors.Join(file.Close(), os.Remove(path)) }
	for _, size := range []int{1 << 20, 4 << 10, 1} { // the last page too
		block := make([]byte, size)
		for err == nil {
			_, err = file.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return nil, errors.Join(err, free())
		}
		err = nil
	}
	return free, nil
}
