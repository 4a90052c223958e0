//go:build linux

package fault

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/seqlease/seqlease/internal/fault/proxy"
)

// startLimit is how long a server or a database may take to start on a busy machine.
const startLimit = time.Minute

// startPause is how long a server that can't start stays away.
const startPause = 300 * time.Millisecond

// server is a place for a server process, which may be killed and started again
// on the same port.
type server struct {
	busy    sync.Mutex // held while something is done to it
	fleet   *Fleet
	name    string
	address string // HOST:PORT
	pool    int    // connections to PostgreSQL; 0: the default
	clock   time.Duration
	proxy   *proxy.Proxy

	mu      sync.Mutex
	process *process
}

// newServer starts a server and the network before it.
func (f *Fleet) newServer(ctx context.Context, number int) (*server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{fleet: f, name: "server-" + strconv.Itoa(number), address: listener.Addr().String()}
	if number < len(f.options.PoolSizes) {
		s.pool = f.options.PoolSizes[number]
	}
	if number < len(f.options.ServerClocks) {
		s.clock = f.options.ServerClocks[number]
	}
	if err := listener.Close(); err != nil { // the server gets its port
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	s.proxy, err = proxy.New(ctx, s.address, f.options.Seed+uint64(number), byWorker)
	return s, err
}

// byWorker says whether a request is one of the calls that workers make.
func byWorker(r *http.Request) bool {
	return r.Method == http.MethodPost && path.Base(r.URL.Path) != "submit"
}

// start starts the server and waits until it answers. Without its database it
// ends at once and is started again, as a supervisor does.
func (s *server) start(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	return await(ctx, s.name+" to answer", startLimit, func(ctx context.Context) (bool, string) {
		if p := s.running(); p.hasEnded() {
			pause(ctx, startPause)
			if err := s.launch(); err != nil {
				return false, err.Error()
			}
			return false, p.lastWords()
		}
		if err := s.answers(ctx); err != nil {
			return false, err.Error() + "; " + s.running().lastWords()
		}
		s.running().mu.Lock()
		s.running().ours = false // from here on it isn't to end by itself
		s.running().mu.Unlock()
		return true, ""
	})
}

// clockSlack is by how much the clock of a server may differ from what it was
// told: seconds, where faults are hours.
const clockSlack = 10 * time.Minute

// answers asks whether the server is alive, which needs no database, and whether
// its clock is as wrong as it was told to be. That it listens says nothing: it
// does so before it has opened its store.
func (s *server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return fmt.Errorf("read its clock: %w", err)
	}
	if off := time.Until(date); (off - s.clock).Abs() > clockSlack {
		return fmt.Errorf("its clock is wrong by %s, not by %s", off, s.clock)
	}
	return nil
}

func (s *server) launch() error {
	program, environment := s.fleet.options.Programs.Server, s.fleet.settings.environment()
	if s.clock != 0 {
		program, environment = s.fleet.options.Programs.ShiftedServer, append(environment, shiftedBy(s.clock)...)
	}
	arguments := []string{
		"serve", "--config", s.fleet.settings.path, "--listen", s.address,
		"--store", s.fleet.store.address(), "--spool-dir", s.fleet.spool(),
	}
	if s.pool > 0 {
		arguments = append(arguments, "--pool-size", strconv.Itoa(s.pool))
	}
	p, err := s.fleet.house.start(s.name, environment, program, arguments...)
	if err != nil {
		return err
	}
	p.expectEnd() // while it starts; the database may be away
	s.mu.Lock()
	s.process = p
	s.mu.Unlock()
	return nil
}

func (s *server) running() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// spool is where servers keep uploads and downloads under way: beside the
// embedded store, so that a full disk is full for both.
func (f *Fleet) spool() string { return filepath.Join(f.data, "spool") }
