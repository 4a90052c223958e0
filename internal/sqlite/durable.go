package sqlite

import (
	"fmt"
	"os"
	"sync"
)

// walSync makes commits durable (synchronous=FULL has the writer wait for the disk
// at each of them). The writer commits without waiting and hands over the answers
// of what it committed; they are given once the write-ahead log, where all of it
// stands by then, is on the disk. Meanwhile the writer goes on, and what it commits
// until the disk is ready shares the next wait. The log is one sequence, so what is
// durable never depends on what isn't.
type walSync struct {
	sync func() error // brings the log to the disk

	mu     sync.Mutex
	queue  []*write // committed
	failed error    // what the log holds on the disk isn't known any more

	wake  chan struct{} // has room for one
	ended chan struct{}
}

// startWALSync needs the log to be there: a connection has read the database.
func startWALSync(path string) (*walSync, error) {
	// SQLite locks the database file and never its log, so that closing this one
	// loses no lock.
	log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the write-ahead log: %w", err)
	}
	w := &walSync{sync: log.Sync, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.run()
		_ = log.Close() // all that matters in it is on the disk
	}()
	return w, nil
}

// answer answers the requests, which are committed, once they are durable.
func (w *walSync) answer(requests []*write) {
	w.mu.Lock()
	w.queue = append(w.queue, requests...)
	w.mu.Unlock()
	signal(w.wake)
}

// failure is why no commit can be made durable any more, if that is so. A log that
// failed once may lack what it seems to hold (the system forgets what it couldn't
// write): only opening the store again tells.
func (w *walSync) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *walSync) run() {
	for range w.wake {
		w.mu.Lock()
		requests, err := w.queue, w.failed
		w.queue = nil
		w.mu.Unlock()
		if len(requests) == 0 {
			continue
		}
		if err == nil {
			if err = w.sync(); err != nil {
				err = fmt.Errorf("make the write-ahead log durable: %w", err)
				w.mu.Lock()
				w.failed = err
				w.mu.Unlock()
			}
		}
		for _, r := range requests {
			r.done <- err
		}
	}
}

// close answers what is left. Nothing may be handed over any more.
func (w *walSync) close() {
	close(w.wake)
	<-w.ended
}
