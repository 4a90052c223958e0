//go:build linux

package fault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// The stores that a fleet can have.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// Options describe a fleet.
type Options struct {
	Store    string
	Dir      string // for everything that it writes; it exists
	Programs Programs
	Seed     uint64
	// Servers share the store; the embedded one has a single server. The lists have
	// an item for each of the first servers: connections to PostgreSQL, and by how
	// much the clock is wrong.
	Servers      int
	PoolSizes    []int
	ServerClocks []time.Duration
	// DatabaseClock is by how much the clock of PostgreSQL is wrong at first.
	DatabaseClock time.Duration
	// Workers are processes of PerProcess workers each. Beside them run as many
	// Python workers as PythonClocks has items; a clock of 0 is right.
	Workers, PerProcess        int
	WorkerClocks, PythonClocks []time.Duration
	Pace                       time.Duration // of an entry's processing
	// Backlog is how many entries the submitter lets wait, Entries how many it
	// uploads in all (0: until the faults are over), NoteBytes how large each is.
	Backlog, Entries, NoteBytes int
	// LargeBytes is how much the entries of the first upload hold: more than sockets
	// do, for clients that read slowly.
	LargeBytes int
	// Attached is how many workers must have claimed before faults happen; 0: one.
	Attached int
	// Poison is how many entries are submitted on which every worker dies.
	Poison int
	// NetworkFaults is the chance of a request to fail.
	NetworkFaults float64
	// Tell is given the story as it happens.
	Tell func(line string)
}

// Fleet is a system at work.
type Fleet struct {
	options  Options
	settings settings
	data     string
	store    store
	house    *household
	servers  []*server
	workers  []*worker
	submit   *submitter
	began    time.Time
	frozen   atomic.Int32 // workers that are stopped until they have lost their lease
	pausing  sync.Mutex   // held while the organism is paused

	supervisors sync.WaitGroup

	mu       sync.Mutex
	faults   map[string]int
	jumps    []float64
	spells   []Spell
	moved    int // entries, by operators
	operated evidence.Operated
	checks   int
	observed []evidence.Violation // in snapshots on the way
}

// newFleet starts everything. Close it, also after an error.
func newFleet(ctx context.Context, o Options) (f *Fleet, err error) {
	f = &Fleet{
		options: o, began: time.Now(), data: filepath.Join(o.Dir, "data"),
		house: &household{id: rand.Text(), dir: o.Dir}, faults: map[string]int{},
		operated: evidence.Operated{Reprocessed: map[seqlease.AccessionVersion]int{}},
	}
	if err := errors.Join(os.Mkdir(f.data, 0o700), writePythonWorker(o.Dir)); err != nil {
		return f, err
	}
	if f.settings, err = writeSettings(filepath.Join(o.Dir, "config.yaml")); err != nil {
		return f, err
	}
	switch o.Store {
	case Postgres:
		var p *postgresStore
		if p, err = newPostgresStore(ctx, o.DatabaseClock); p != nil {
			f.store = p
		}
	case SQLite:
		var s *sqliteStore
		if s, err = newSQLiteStore(f.data); s != nil {
			f.store = s
		}
	default:
		err = fmt.Errorf("store %q is neither %s nor %s", o.Store, Postgres, SQLite)
	}
	if err != nil {
		return f, err
	}
	if err := os.MkdirAll(f.spool(), 0o700); err != nil {
		return f, err
	}
	return f, f.populate(ctx)
}

// populate starts the processes.
func (f *Fleet) populate(ctx context.Context) error {
	migrate := exec.CommandContext(ctx, f.options.Programs.Server, "migrate", "up", "--store", f.store.address())
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}
	for i := range f.options.Servers {
		s, err := f.newServer(ctx, i)
		if err != nil {
			return err
		}
		f.servers = append(f.servers, s)
	}
	submitter, err := f.newSubmitter(ctx)
	if err != nil {
		return err
	}
	f.submit = submitter
	for i := range f.options.Workers + len(f.options.PythonClocks) {
		w := &worker{fleet: f, number: i}
		if n := i - f.options.Workers; n >= 0 {
			w.python, w.clock = true, f.options.PythonClocks[n]
		} else if i < len(f.options.WorkerClocks) {
			w.clock = f.options.WorkerClocks[i]
		}
		if err := w.start(); err != nil {
			return err
		}
		f.workers = append(f.workers, w)
	}
	return nil
}

func (f *Fleet) newSubmitter(ctx context.Context) (*submitter, error) {
	c, err := f.direct(f.settings.submitter)
	if err != nil {
		return nil, err
	}
	group, err := c.CreateGroup(ctx, seqlease.NewGroup{GroupName: "Fault", Institution: "fault"})
	if err != nil {
		return nil, err
	}
	return &submitter{
		fleet: f, group: group.GroupID, note: noise(f.options.NoteBytes),
		random: mathrand.New(mathrand.NewPCG(f.options.Seed, 3)),
	}, nil
}

// noise is a text that can't be compressed away.
func noise(size int) string {
	text := make([]byte, 0, size)
	for len(text) < size {
		text = append(text, rand.Text()...)
	}
	return string(text)
}

// direct returns a client of the first server past the network's faults.
func (f *Fleet) direct(token string) (*client.Client, error) {
	return client.New("http://"+f.servers[0].address, token, client.WithSilence(30*time.Second))
}

// backlog is how many entries may be waiting or in processing, as far as the
// submitter and the workers know.
func (f *Fleet) backlog() int {
	_, stored := f.submit.told()
	return stored - len(f.accepted())
}

// accepted are the entries of which workers sent results that weren't refused as a
// whole.
func (f *Fleet) accepted() map[seqlease.AccessionVersion]bool {
	accepted := map[seqlease.AccessionVersion]bool{}
	lines, err := f.lines()
	if err != nil {
		f.submit.wonder("read the workers' logs: %v", err)
	}
	for i := range lines {
		if lines[i].Accepted() {
			for _, h := range lines[i].Entries {
				accepted[h.AccessionVersion] = true
			}
		}
	}
	return accepted
}

func (f *Fleet) lines() ([]evidence.Line, error) {
	var all []evidence.Line
	for _, w := range f.workers {
		lines, err := w.lines()
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}

func (f *Fleet) tell(format string, args ...any) {
	if f.options.Tell != nil {
		f.options.Tell(fmt.Sprintf("%6.1f s  ", time.Since(f.began).Seconds()) + fmt.Sprintf(format, args...))
	}
}

// close ends everything and looks whether anything is left.
func (f *Fleet) close() error {
	var err error
	for _, s := range f.servers {
		err = errors.Join(err, s.proxy.Close())
	}
	err = errors.Join(err, f.house.close())
	f.supervisors.Wait()
	if f.store != nil {
		err = errors.Join(err, f.store.close())
	}
	return err
}
