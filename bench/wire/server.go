package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seqlease/seqlease/bench/measure"
	"github.com/seqlease/seqlease/client"
)

// stopLimit is how long a server may take to stop: as long as it gives running
// requests, and some.
const stopLimit = 30 * time.Second

// Server is a running server process.
type Server struct {
	URL     string
	process *exec.Cmd
	ended   chan error
	log     tail
}

// startServer starts a server and waits until it is ready.
func startServer(ctx context.Context, program string, s settings, store, spool string) (_ *Server, err error) {
	server := &Server{ended: make(chan error, 1)}
	server.process = exec.CommandContext(context.WithoutCancel(ctx), program, //nolint:gosec // the program that the bench has built
		"serve", "--config", s.path, "--listen", "127.0.0.1:0", "--store", store, "--spool-dir", spool)
	server.process.Env = append(os.Environ(), s.environment()...)
	stderr, err := server.process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := server.process.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go server.follow(stderr, address)
	select {
	case server.URL = <-address:
	case <-ctx.Done():
	}
	if server.URL == "" {
		return nil, errors.Join(fmt.Errorf("the server didn't start: %s", server.log.String()), server.Stop())
	}
	c, err := client.New(server.URL, "")
	if err == nil {
		err = c.Ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// follow reads the log of the server to its end, so that it never waits for us, and
// finds its address there.
func (s *Server) follow(stderr io.Reader, address chan<- string) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, "level=INFO msg=request") {
			continue
		}
		s.log.add(line)
		if _, rest, found := strings.Cut(line, "msg=serving url="); found {
			url, _, _ := strings.Cut(rest, " ")
			address <- url
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // a line that is too long ends the scanner only
	s.ended <- s.process.Wait()
	close(address)
}

// Stop ends the server as an operator does and waits for it.
func (s *Server) Stop() error {
	_ = s.process.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil {
			return fmt.Errorf("the server ended with %w: %s", err, s.log.String())
		}
		return nil
	case <-time.After(stopLimit):
		_ = s.process.Process.Kill()
		return fmt.Errorf("the server didn't stop in %s: %s", stopLimit, s.log.String())
	}
}

// PeakMemory is the most memory that the server has had, in bytes (VmHWM of
// proc(5)).
func (s *Server) PeakMemory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("the system doesn't tell how much memory a process has had")
}

// CPU is the processor time that the server has taken so far.
func (s *Server) CPU() (time.Duration, error) { return measure.ProcessTime(s.process.Process.Pid) }

// tail keeps the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

const tailLines = 20

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// String joins the lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
