package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The ways in which a server ends.
const (
	killed    = syscall.SIGKILL // nothing is written, nobody is told
	immediate = syscall.SIGQUIT // pg_ctl stop -m immediate: sessions are cut, recovery follows
	fast      = syscall.SIGINT  // pg_ctl stop -m fast: sessions are ended, not waited for
)

// Outage is a time without the server, which its caller ends.
type Outage struct{ server *server }

// Kill9 ends the server as kill -9 does.
func (c *Cluster) Kill9() (Outage, error) { return c.outage(killed) }

// Crash ends the server as `pg_ctl stop -m immediate` does: it recovers from
// its log when it starts.
func (c *Cluster) Crash() (Outage, error) { return c.outage(immediate) }

// ShutDown ends the server in good order.
func (c *Cluster) ShutDown() (Outage, error) { return c.outage(fast) }

func (c *Cluster) outage(how syscall.Signal) (Outage, error) {
	if c.server == nil {
		return Outage{}, ErrNotOurs
	}
	return Outage{c.server}, c.server.end(how)
}

// End starts the server on the same data and port, and returns once it answers.
func (o Outage) End(ctx context.Context) error { return o.server.again(ctx) }

// EndWithClock is End with a clock that is wrong by that much from here on.
func (o Outage) EndWithClock(ctx context.Context, clock time.Duration) error {
	o.server.clock = clock
	return o.server.again(ctx)
}

// Freeze stops the server and all its back ends as SIGSTOP does, without their
// noticing. Thaw lets them go on.
func (c *Cluster) Freeze() error { return c.signalAll(syscall.SIGSTOP) }

// Thaw ends [Cluster.Freeze].
func (c *Cluster) Thaw() error { return c.signalAll(syscall.SIGCONT) }

func (c *Cluster) signalAll(signal syscall.Signal) error {
	if c.server == nil {
		return ErrNotOurs
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	postmaster := c.server.process.Process.Pid
	// The postmaster first: stopped, it starts no back end that would be missed.
	err := syscall.Kill(postmaster, signal)
	for _, child := range childrenOf(postmaster) {
		if e := syscall.Kill(child, signal); !errors.Is(e, syscall.ESRCH) { // it may have ended meanwhile
			err = errors.Join(err, e)
		}
	}
	return err
}

// childrenOf finds the processes whose parent it is (proc(5): the state follows
// the name, which may hold anything, and the parent follows the state).
func childrenOf(parent int) []int {
	var children []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is constant
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			children = append(children, pid)
		}
	}
	return children
}

// end ends the server and waits until it has.
func (s *server) end(how syscall.Signal) error {
	s.signal(how)
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-time.After(startTimeout):
		s.signal(killed)
		<-ended
		return fmt.Errorf("the server didn't end within %s of %s and was killed", startTimeout, how)
	}
}

// again starts the server on its old data. After a kill the back ends notice the
// postmaster's death by themselves; until the last one has let go of the shared
// memory a server refuses to start, and is started again.
func (s *server) again(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := s.start(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		<-ticker.C
	}
}
