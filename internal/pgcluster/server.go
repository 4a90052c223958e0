package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// startTimeout bounds how long a server may take to answer; it needs about a
// second on a busy machine.
const startTimeout = time.Minute

// portAttempts is how many free ports are tried: another process may take one
// between the choice and the start.
const portAttempts = 5

// server is a postgres process of our own and its directory.
type server struct {
	bin      string
	dir      string // short, since a socket path has at most 107 bytes
	settings []string
	port     int

	clock   time.Duration // by which the clock of the next start is wrong
	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{} // closed when process has ended
	log     *bytes.Buffer // its standard error; read only once ended is closed
	stopped bool
}

func startServer(ctx context.Context, bin string, o Options) (*server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin, dir: dir, settings: o.Settings, clock: o.Clock}
	if !o.Durable {
		s.settings = append([]string{"fsync=off", "synchronous_commit=off", "full_page_writes=off"}, o.Settings...)
	}
	if err := s.initialise(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range portAttempts {
		if s.port, err = freePort(ctx); err != nil {
			break
		}
		if err = s.start(ctx); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// initialise makes the data directory, owned by whom the server runs as.
func (s *server) initialise(ctx context.Context) error {
	attributes, err := processAttributes()
	if err != nil {
		return err
	}
	if err := giveToServer(s.dir, attributes); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"),
		"-D", s.data(), "-U", "app", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	command.SysProcAttr, command.Dir = attributes, s.dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// start runs the server and returns once it answers. The process outlives ctx.
func (s *server) start(ctx context.Context) error {
	attributes, err := processAttributes()
	if err != nil {
		return err
	}
	arguments := []string{"-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"}
	for _, setting := range s.settings {
		arguments = append(arguments, "-c", setting)
	}
	process := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(s.bin, "postgres"), arguments...)
	log := &bytes.Buffer{}
	process.SysProcAttr, process.Dir, process.Stderr = attributes, s.dir, log
	if process.Env, err = clockEnvironment(s.clock); err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// How it ended shows in its log; stop asks it to end anyway.
		_ = process.Wait()
	}()
	s.mu.Lock()
	s.process, s.ended, s.log = process, ended, log
	s.mu.Unlock()
	return s.awaitAnswer(ctx)
}

// awaitAnswer tries to connect until the server answers, ends or ctx is done.
func (s *server) awaitAnswer(ctx context.Context) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		connection, err := pgx.Connect(ctx, s.address("postgres"))
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended: %s", s.log)
		case <-ctx.Done():
			s.signal(syscall.SIGQUIT)
			<-s.ended
			return fmt.Errorf("no answer from the server (%w): %s", err, s.log)
		case <-again.C:
		}
	}
}

func (s *server) stop() error {
	s.mu.Lock()
	stopped := s.stopped
	s.stopped = true
	s.mu.Unlock()
	if stopped {
		return nil
	}
	return errors.Join(s.end(fast), os.RemoveAll(s.dir))
}

func (s *server) signal(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// It fails only where the process has ended already.
	_ = s.process.Process.Signal(signal)
}

func (s *server) data() string { return filepath.Join(s.dir, "d") }

func (s *server) address(database string) string {
	return fmt.Sprintf("postgres://app@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
