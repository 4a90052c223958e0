package demo

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the system kill the process if this one is killed.
func dieWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
