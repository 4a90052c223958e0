package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	driver "modernc.org/sqlite"

	"github.com/seqlease/seqlease"
)

// A group of writes shares one transaction. It takes in writes
// that are waiting already and ends after groupTime or groupSize of them, so
// that the first isn't kept from its answer for long.
const (
	groupTime = 10 * time.Millisecond
	groupSize = 64
	// yields is how often others may run before a group ends because nobody waits:
	// those that were just answered are about to ask for more.
	yields = 3
	// muchToWrite is beyond how many bytes a request is large: it ends its group and is
	// undone alone, so that no other one's error has it carried out again, nor its own.
	muchToWrite = 1 << 20
	// markedGroups is how many groups have marks after one had to be written again.
	// A mark costs a copy of each page that is written after it, but it lets one
	// request be undone without the others.
	markedGroups = 64
)

// writer is the one connection that writes, with its own goroutine.
type writer struct {
	db         *sql.DB
	conn       *sql.Conn
	statements *kept
	log        *walSync
	checkpoint *checkpointer
	requests   chan *write
	marked     int // so many groups have marks
	closing    chan struct{}
	closeOnce  sync.Once
	ended      chan struct{}
}

// write is a request to write. Once the writer has received it, it is carried out.
type write struct {
	ctx    context.Context //nolint:containedctx // travels with the request to the writer's goroutine
	fn     func(ctx context.Context, t *tx) error
	losing bool       // it is answered before it is durable: a power cut may undo it
	large  bool       // it has much to write: nothing is worth having it carried out twice
	done   chan error // takes one answer without a receiver
	err    error      // of fn, while its group isn't committed
}

func startWriter(ctx context.Context, db *sql.DB, path string) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, conn: conn,
		requests: make(chan *write), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	texts, err := statementTexts()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	maps.Copy(texts, map[string]string{
		"begin": "BEGIN IMMEDIATE", "commit": "COMMIT", "rollback": "ROLLBACK",
		"mark": "SAVEPOINT one", "keep": "RELEASE one", "undo": "ROLLBACK TO one",
	})
	w.statements = newKept(conn, texts)
	if err := w.takeLog(ctx, path); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go w.run() //nolint:gosec,contextcheck // it ends with the store
	return w, nil
}

// takeLog has commits neither wait for the disk nor bring the log into the file:
// [walSync] and [checkpointer] do.
func (w *writer) takeLog(ctx context.Context, path string) (err error) {
	for _, pragma := range []string{"PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 0"} {
		if _, err := w.conn.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	if w.log, err = startWALSync(path); err != nil {
		return err
	}
	if w.checkpoint, err = startCheckpointer(path, w.log); err != nil { //nolint:contextcheck // it ends with the store
		w.log.close()
	}
	return err
}

// close lets the write that is under way end, and refuses all others. It brings
// what the write-ahead log holds into the file, so that the file alone is the
// store when nobody has it open. (As long as a statement of this connection is
// prepared, SQLite keeps the log open even after the connection was closed.)
func (w *writer) close() error {
	w.closeOnce.Do(func() { close(w.closing) })
	<-w.ended
	w.log.close()
	ended := w.checkpoint.close()
	if w.log.failure() != nil {
		// The last connection to be closed brings the log into the file, whatever the
		// disk made of it. So this one ends with the process, and its checksums tell
		// whoever opens the store next which part of the log is whole.
		return ended
	}
	// An outsider that reads may keep the log from being emptied; nothing is lost then.
	_, _, err := checkpoint(context.Background(), w.conn, "TRUNCATE")
	return errors.Join(err, ended, w.statements.close(), w.conn.Close(), w.db.Close())
}

// write runs fn in a write transaction: all of it is committed and durable, or
// nothing if fn returns an error. While the write waits for its turn, ctx can end it; from
// then on it can't, as an interrupted statement would undo its neighbours too.
// fn may be called again after its effects were undone, so it must set what it
// hands out anew each time.
func (s *Store) write(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	return s.send(ctx, &write{fn: fn})
}

// writeLosing is write for what may be undone by a power cut after it was
// answered (never by the end of the process): it doesn't wait for the disk.
func (s *Store) writeLosing(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	return s.send(ctx, &write{fn: fn, losing: true})
}

// writeMuch is write for what may have much to store: about so many bytes.
func (s *Store) writeMuch(ctx context.Context, bytes int, fn func(ctx context.Context, t *tx) error) error {
	return s.send(ctx, &write{fn: fn, large: bytes > muchToWrite})
}

func (s *Store) send(ctx context.Context, r *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.ctx, r.done = context.WithoutCancel(ctx), make(chan error, 1)
	select {
	case s.writer.requests <- r:
		err := storeError(<-r.done)
		switch {
		case err == nil:
			s.full.Store(false)
		case errors.Is(err, seqlease.ErrStorageFull):
			s.full.Store(true)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.writer.closing:
		return ErrClosed
	}
}

func (w *writer) run() {
	defer close(w.ended)
	for {
		select {
		case first := <-w.requests:
			w.writeGroup(first)
			w.checkpoint.committed()
		case <-w.checkpoint.rest:
			if w.log.failure() == nil {
				// If it fails, the log holds it, and this is asked for again.
				_, _, _ = checkpoint(context.Background(), w.conn, "PASSIVE")
			}
		case <-w.closing:
			return
		}
	}
}

// writeGroup writes the first request and those that wait, in one transaction.
// If the transaction is lost, each is written again in one of its own.
func (w *writer) writeGroup(first *write) {
	group, err := w.tryGroup(first)
	if err == nil || len(group) == 1 {
		w.answer(group, err)
		return
	}
	for _, r := range group {
		r.err = nil
		w.answer([]*write{r}, w.alone(r))
	}
}

// answer answers requests of one transaction, which ended with err: at once, or as
// soon as what was committed is durable.
func (w *writer) answer(group []*write, err error) {
	var durable []*write
	for _, r := range group {
		if err != nil || r.err != nil || r.losing {
			r.done <- errors.Join(err, r.err)
		} else {
			durable = append(durable, r)
		}
	}
	if len(durable) > 0 {
		w.log.answer(durable)
	}
}

// alone writes one request that was begun already.
func (w *writer) alone(r *write) error {
	if err := w.begin(r.ctx); err != nil {
		return err
	}
	if err := w.one(r); err != nil {
		return w.lost(r.ctx, err)
	}
	return w.commit(r.ctx)
}

// tryGroup returns the requests of the group. The error is of the group as a
// whole: none of it was stored.
func (w *writer) tryGroup(first *write) ([]*write, error) {
	group := []*write{first}
	if err := w.begin(first.ctx); err != nil {
		return group, err
	}
	w.marked = max(w.marked-1, 0)
	end := time.NewTimer(groupTime)
	defer end.Stop()
	for next := first; next != nil; {
		alone := next.large && next == first
		carryOut := w.unmarked
		if (w.marked > 0 || next.large) && !alone {
			carryOut = w.one
		}
		switch err := carryOut(next); {
		case errors.Is(err, errSpoilt):
			return group, w.again(group)
		case err != nil:
			return group, w.lost(first.ctx, err)
		}
		if next.large {
			break
		}
		if next = w.waiting(end.C, len(group)); next != nil {
			group = append(group, next)
		}
	}
	return group, w.commit(first.ctx)
}

// again undoes the group and writes it again, with marks. A request that was alone
// is done with when it is undone.
func (w *writer) again(group []*write) error {
	ctx := group[0].ctx
	_ = w.control(ctx, "rollback") // the engine may have done it
	if len(group) == 1 {
		return nil
	}
	w.marked = markedGroups
	if err := w.begin(ctx); err != nil {
		return err
	}
	for _, r := range group {
		r.err = nil
		if err := w.one(r); err != nil {
			return w.lost(ctx, err)
		}
	}
	return w.commit(ctx)
}

// waiting takes one more request into the group if one is there by now.
func (w *writer) waiting(end <-chan time.Time, size int) *write {
	if size >= groupSize {
		return nil
	}
	select {
	case <-end:
		return nil
	default:
	}
	for range yields {
		select {
		case r := <-w.requests:
			return r
		default:
			runtime.Gosched()
		}
	}
	return nil
}

// errSpoilt says that a request ended in an error and left traces in the
// transaction, or that the engine may have ended that.
var errSpoilt = errors.New("the transaction holds a part of a request")

// unmarked runs a request that can't be undone alone. A statement that writes returns
// only rows that it has changed.
func (w *writer) unmarked(r *write) error {
	wrote := false
	r.err = r.fn(r.ctx, &tx{
		statement: w.statements.get,
		changed:   func(name string) { wrote = wrote || w.statements.writes[name] },
	})
	if r.err != nil && (wrote || errors.As(r.err, new(*driver.Error))) {
		return errSpoilt
	}
	return nil
}

// one runs a request and undoes it alone if it ends in an error. An error of
// one itself means that the transaction is lost.
func (w *writer) one(r *write) error {
	if err := w.control(r.ctx, "mark"); err != nil {
		return err
	}
	r.err = r.fn(r.ctx, &tx{statement: w.statements.get})
	if r.err != nil {
		if err := w.control(r.ctx, "undo"); err != nil {
			return fmt.Errorf("%w (%w)", r.err, err)
		}
	}
	return w.control(r.ctx, "keep")
}

// beginTries bounds how often the write lock is waited for, a busy timeout each:
// an outsider that writes in a tight loop can keep it that long.
const beginTries = 6

func (w *writer) begin(ctx context.Context) (err error) {
	if err := w.log.failure(); err != nil {
		return err
	}
	for range beginTries {
		if err = w.control(ctx, "begin"); !errors.Is(storeError(err), seqlease.ErrBusy) {
			return err
		}
	}
	return err
}

func (w *writer) commit(ctx context.Context) error {
	if err := w.control(ctx, "commit"); err != nil {
		return w.lost(ctx, err)
	}
	return nil
}

// lost ends a transaction that can't be committed. Some errors, such as a full
// disk, have ended it already: then there is nothing to roll back.
func (w *writer) lost(ctx context.Context, err error) error {
	_ = w.control(ctx, "rollback")
	return err
}

func (w *writer) control(ctx context.Context, name string) error {
	statement, err := w.statements.get(ctx, name) //nolint:sqlclosecheck // kept as long as the store
	if err != nil {
		return err
	}
	if _, err := statement.ExecContext(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
