//go:build linux

package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// mark names the environment variable by which the processes of a run are found.
const mark = "SEQLEASE_FAULT_RUN"

// process is a running program. household waits for it.
type process struct {
	name    string
	log     string // file with what it prints
	command *exec.Cmd
	ended   chan struct{} // closed when it has ended
	err     error         // how; read after ended

	mu   sync.Mutex
	ours bool // its end is our doing
}

// household owns every process of a run.
type household struct {
	id  string // value of mark
	dir string // where their logs go

	mu      sync.Mutex
	closed  bool
	all     []*process
	strange []string // processes that ended by themselves
	waiters sync.WaitGroup
}

// start runs a program whose output goes into a log of its own. It dies with this
// process.
func (h *household) start(name string, environment []string, program string, arguments ...string) (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.New("the run is over")
	}
	p := &process{name: name, log: filepath.Join(h.dir, fmt.Sprintf("%s.%d.log", name, len(h.all))), ended: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.command = exec.CommandContext(context.Background(), program, arguments...)
	p.command.Env = append(append(os.Environ(), mark+"="+h.id), environment...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	h.all = append(h.all, p)
	h.waiters.Go(func() {
		defer close(p.ended)
		p.err = errors.Join(p.command.Wait(), log.Close())
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.ours && !p.poisoned() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.strange = append(h.strange, fmt.Sprintf("%s (%v); its log is %s", p.name, p.err, p.log))
		}
	})
	return p, nil
}

// signal sends a signal. One to a process that has ended does nothing.
func (p *process) signal(s syscall.Signal) error {
	if err := p.command.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", s, p.name, err)
	}
	return nil
}

// expectEnd says that the process is about to end by our doing.
func (p *process) expectEnd() {
	p.mu.Lock()
	p.ours = true
	p.mu.Unlock()
}

// kill ends the process as kill -9 does, also a stopped one, and waits for it.
func (p *process) kill() error {
	p.expectEnd()
	err := p.signal(syscall.SIGKILL)
	<-p.ended
	return err
}

// terminate asks the process to stop and waits until it has.
func (p *process) terminate(ctx context.Context, within time.Duration) error {
	p.expectEnd()
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := await(ctx, p.name+" to end after SIGTERM", within, func(context.Context) (bool, string) {
		return p.hasEnded(), "it runs; its log is " + p.log
	})
	if err != nil {
		return errors.Join(err, p.kill())
	}
	return p.err
}

// lastWords tells the end of its log and where the rest is.
func (p *process) lastWords() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("its log %s ends with %q", p.log, content[max(0, len(content)-300):])
}

// poisoned says whether the process, which has ended, was a worker that died on
// a poisoned entry.
func (p *process) poisoned() bool {
	return p.command.ProcessState != nil && p.command.ProcessState.ExitCode() == evidence.ExitPoisoned
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// endedThemselves lists the processes that ended though nobody told them to.
func (h *household) endedThemselves() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.strange...)
}

// close kills what still runs, and looks whether anything of the run is left.
func (h *household) close() error {
	h.mu.Lock()
	h.closed = true
	all := append([]*process(nil), h.all...)
	h.mu.Unlock()
	var err error
	for _, p := range all {
		err = errors.Join(err, p.kill())
	}
	h.waiters.Wait()
	if left := h.left(); len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("processes are left: %s", strings.Join(left, ", ")))
	}
	return err
}

// left finds processes that carry the mark of the run.
func (h *household) left() []string {
	var left []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is constant
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or is another user's
		}
		if strings.Contains("\x00"+string(content), "\x00"+mark+"="+h.id+"\x00") {
			left = append(left, filepath.Base(filepath.Dir(path)))
		}
	}
	return left
}
