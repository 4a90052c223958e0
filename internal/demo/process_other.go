//go:build !linux

package demo

import "os/exec"

// dieWithParent can't be asked for here: if this process is killed, the workers
// find no server and are to be ended by hand.
func dieWithParent(*exec.Cmd) {}
