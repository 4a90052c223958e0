//go:build unix

package demo

import (
	"os"
	"syscall"
)

// canFreeze says whether processes can be stopped and continued here.
const canFreeze = true

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
