package main

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// runScript runs a script of the documents to its end, which must be a good one; what
// names it in the message. It starts servers: all of it is one process group, so that
// none is left behind.
func runScript(t *testing.T, bash *exec.Cmd, what string) (stdout, stderr *bytes.Buffer) {
	t.Helper()
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bash.Cancel = func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() {
		if bash.Process != nil {
			_ = syscall.Kill(-bash.Process.Pid, syscall.SIGKILL) // gone already, as a rule
		}
	})
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	bash.Stdout, bash.Stderr = stdout, stderr
	if err := bash.Run(); err != nil {
		t.Fatalf("%s: %v\nstdout:\n%s\nstderr:\n%s", what, err, stdout, stderr)
	}
	return stdout, stderr
}
