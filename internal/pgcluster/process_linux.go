package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// processAttributes let the server end with this process, and run as the user
// postgres if this process is root, which the server refuses.
func processAttributes() (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return attributes, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("the server can't run as root and needs the user postgres: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attributes, nil
}

// giveToServer makes the directory belong to whom the server runs as.
func giveToServer(dir string, attributes *syscall.SysProcAttr) error {
	if c := attributes.Credential; c != nil {
		return os.Chown(dir, int(c.Uid), int(c.Gid))
	}
	return nil
}
