package queue

import (
	"context"
	"log/slog"
	"time"
)

// lookEvery is how often the change counters are looked at while claims wait.
const lookEvery = time.Second

// lookTimeout bounds one look.
const lookTimeout = 10 * time.Second

// run looks at the change counters once a second while claims wait, and wakes one
// of each queue in which something may have become claimable. When ctx ends all
// that wait are answered.
func (w *waitingRoom) run(ctx context.Context, store WaitStore, logger *slog.Logger) error {
	defer w.stop()
	var complaints complaints
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.filled:
		}
		look := time.NewTicker(lookEvery)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				look.Stop()
				return nil
			case <-look.C:
			}
			var err error
			if waiting, err = w.look(ctx, store); err != nil && ctx.Err() == nil {
				complaints.log(ctx, logger, "looking for changes for claims that wait", err)
			}
		}
		look.Stop()
	}
}

// look asks about all queues for which somebody waits, and says whether there are any.
func (w *waitingRoom) look(ctx context.Context, store WaitStore) (waiting bool, err error) {
	awaited := w.awaited()
	if len(awaited) == 0 {
		return w.occupied(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	stirred, err := store.Stirred(ctx, awaited)
	if err != nil {
		return true, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, a := range awaited {
		line := w.lines[queueKey{a.Organism, a.PipelineVersion}]
		// With another mark somebody found nothing since.
		if stirred[i] && line != nil && !line.busy && line.mark == a.Mark {
			line.wake()
		}
	}
	return true, nil
}

// awaited lists the queues for which somebody waits and nobody is looking.
func (w *waitingRoom) awaited() []Awaited {
	w.mu.Lock()
	defer w.mu.Unlock()
	var awaited []Awaited
	for key, line := range w.lines {
		if len(line.waiters) > 0 && !line.busy {
			awaited = append(awaited, Awaited{Organism: key.organism, PipelineVersion: key.version, Mark: line.mark})
		}
	}
	return awaited
}

// occupied says whether a claim waits or has its turn. If none does, the next that
// enters leaves a token.
func (w *waitingRoom) occupied() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.lines) > 0
}

// stop answers all that wait, and those that would.
func (w *waitingRoom) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.stopped = true
		close(w.gone)
	}
}
