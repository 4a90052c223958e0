//go:build !linux

package pgcluster

import "syscall"

// processAttributes has nothing to say here: the server runs as this process's
// user and must be stopped by it.
func processAttributes() (*syscall.SysProcAttr, error) { return nil, nil }

// giveToServer leaves the directory to this process's user.
func giveToServer(string, *syscall.SysProcAttr) error { return nil }
