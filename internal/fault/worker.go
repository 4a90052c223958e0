//go:build linux

package fault

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/seqlease/seqlease/internal/fault/evidence"
	"github.com/seqlease/seqlease/internal/pgcluster"
)

//go:embed worker.py
var pythonWorker []byte

// worker is a place for a worker process; one that was killed is replaced.
type worker struct {
	busy   sync.Mutex // held while something is done to it
	fleet  *Fleet
	number int
	python bool
	clock  time.Duration

	mu      sync.Mutex
	process *process
	logs    []*evidence.Log // of this process and those before it
}

// start starts a process in the worker's place.
func (w *worker) start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.fleet.options
	name := fmt.Sprintf("worker-%d-%d", w.number, len(w.logs))
	log := &evidence.Log{Path: filepath.Join(w.fleet.options.Dir, name+".ndjson")}
	server := w.fleet.servers[w.number%len(w.fleet.servers)]
	address, environment := "http://"+server.proxy.Address, []string{"WORKER_TOKEN=" + w.fleet.settings.pipeline}
	batch, pace := 4+w.number%5*4, o.Pace // 4 to 20 entries
	var program string
	var arguments []string
	if w.python {
		program = "python3"
		arguments = []string{
			filepath.Join(o.Dir, "worker.py"), address, string(organism), name, log.Path,
			strconv.Itoa(batch), fmt.Sprint(pace.Seconds()),
		}
		if w.clock != 0 {
			wrong, err := pgcluster.ClockEnvironment(w.clock)
			if err != nil {
				return err
			}
			environment = append(environment, wrong...)
		}
	} else {
		program = o.Programs.Worker
		arguments = []string{
			"-server", address, "-organism", string(organism), "-id", name, "-log", log.Path,
			"-batch", strconv.Itoa(batch), "-pace", pace.String(), "-workers", strconv.Itoa(o.PerProcess),
			"-lease", fmt.Sprintf("%ds", leaseSeconds),
		}
		if w.clock != 0 {
			program, environment = o.Programs.ShiftedWorker, append(environment, shiftedBy(w.clock)...)
		}
	}
	p, err := w.fleet.house.start(name, environment, program, arguments...)
	if err != nil {
		return err
	}
	w.process, w.logs = p, append(w.logs, log)
	w.fleet.supervisors.Go(func() { w.supervise(p) })
	return nil
}

// supervise starts the worker again if it dies on a poisoned entry, as a
// supervisor does. Whoever kills it replaces it themselves.
func (w *worker) supervise(p *process) {
	<-p.ended
	if !p.poisoned() {
		return
	}
	w.busy.Lock()
	defer w.busy.Unlock()
	if w.running() != p {
		return
	}
	w.fleet.tell("%s died on poison", p.name)
	w.fleet.count(string(WorkerPoisoned), 1)
	if err := w.start(); err != nil {
		w.fleet.submit.wonder("start %s again: %v", p.name, err)
	}
}

func (w *worker) running() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// working returns what the present process is at work on. It is of use only for
// processes with a single worker.
func (w *worker) working() ([]evidence.Held, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.logs[len(w.logs)-1]
	if err := log.Read(); err != nil {
		return nil, err
	}
	return log.Open(), nil
}

// lines returns everything that the processes in this place wrote down.
func (w *worker) lines() ([]evidence.Line, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []evidence.Line
	for _, log := range w.logs {
		if err := log.Read(); err != nil {
			return nil, err
		}
		lines = append(lines, log.Lines...)
	}
	return lines, nil
}

// writePythonWorker puts the program where processes find it.
func writePythonWorker(dir string) error {
	return os.WriteFile(filepath.Join(dir, "worker.py"), pythonWorker, 0o600)
}
