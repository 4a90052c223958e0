package sqlite

import (
	"context"
	"database/sql"
)

// The write-ahead log is brought into the file when this many of its pages aren't
// in it, as SQLite does by itself, but beside the writer and not in its turns. The
// log begins anew only when all of it is in the file, for which a busy writer leaves
// no moment: beyond logPages it does the small rest itself.
const (
	checkpointPages = 1000
	logPages        = 8192
)

// checkpointer brings the log into the file with a connection of its own.
type checkpointer struct {
	db    *sql.DB
	log   *walSync
	rest  chan struct{} // asks the writer for the rest; has room for one
	wake  chan struct{} // has room for one
	ended chan struct{}
}

func startCheckpointer(path string, log *walSync) (*checkpointer, error) {
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &checkpointer{db: db, log: log, rest: make(chan struct{}, 1), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for range c.wake {
			c.look()
		}
	}()
	return c, nil
}

// committed says that the log has grown.
func (c *checkpointer) committed() { signal(c.wake) }

// close ends it. Nothing may be committed any more.
func (c *checkpointer) close() error {
	close(c.wake)
	<-c.ended
	return c.db.Close()
}

func (c *checkpointer) look() {
	if c.log.failure() != nil {
		return // what is read back of the log may be anything
	}
	ctx := context.Background() // it ends with the store, between two steps
	pages, kept, err := checkpoint(ctx, c.db, "NOOP")
	if err != nil || pages-kept < checkpointPages {
		return
	}
	// What fails, on a full disk for instance, is tried again after the next commit:
	// until then the log holds it.
	if pages, _, err = checkpoint(ctx, c.db, "PASSIVE"); err == nil && pages > logPages {
		signal(c.rest)
	}
}

// checkpoint returns how many pages the log has, and how many of them are in the file.
func checkpoint(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, mode string,
) (pages, kept int, err error) {
	var busy int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &kept)
	return pages, kept, err
}

// signal sends to a channel that has room for one, unless there is one already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
