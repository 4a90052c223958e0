package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease/internal/ndjson"
	"github.com/seqlease/seqlease/worker"
)

// process is a worker process of the demo.
type process struct {
	number  int // from 1
	command *exec.Cmd
	log     string // file with its stderr
	killed  bool   // by us, on purpose
}

// processEvent is what a worker process reported, or its end.
type processEvent struct {
	process *process
	worker.Event
	ended bool
	err   error // of the process, if ended
}

// crew are the worker processes of a run. Every process that was started is
// waited for by close, whatever happened.
type crew struct {
	dir    string
	events chan processEvent
	done   chan struct{} // closed by close: nobody reads events any more
	all    []*process
	ended  sync.WaitGroup
}

func newCrew(dir string) *crew {
	return &crew{dir: dir, events: make(chan processEvent), done: make(chan struct{})}
}

// start runs the command as the next worker and passes on what it reports on
// its stdout. It is killed when its context ends.
func (c *crew) start(command *exec.Cmd) (*process, error) {
	p := &process{number: len(c.all) + 1, command: command}
	p.log = filepath.Join(c.dir, fmt.Sprintf("worker-%d.log", p.number))
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	command.Stderr = log
	command.WaitDelay = 5 * time.Second
	dieWithParent(command)
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start worker %d: %w", p.number, err)
	}
	c.all = append(c.all, p)
	c.ended.Go(func() {
		defer log.Close() //nolint:errcheck // the log is for reading after trouble; its loss isn't worth another
		lines := ndjson.NewReader(stdout, ndjson.DefaultLimit)
		for {
			line, err := lines.Next()
			if err != nil {
				break // the end of the process tells why
			}
			var event worker.Event
			if err := json.Unmarshal(line, &event); err == nil {
				c.report(processEvent{process: p, Event: event})
			}
		}
		c.report(processEvent{process: p, ended: true, err: command.Wait()})
	})
	return p, nil
}

func (c *crew) report(e processEvent) {
	select {
	case c.events <- e:
	case <-c.done:
	}
}

// next waits for the next event.
func (c *crew) next(ctx context.Context) (processEvent, error) {
	select {
	case e := <-c.events:
		return e, nil
	case <-ctx.Done():
		return processEvent{}, context.Cause(ctx)
	}
}

// close kills what still runs, stopped processes included, and waits for it.
func (c *crew) close() {
	close(c.done)
	for _, p := range c.all {
		_ = p.command.Process.Kill() // an error says that it has ended
	}
	c.ended.Wait()
}
