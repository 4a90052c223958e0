//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// fileLock keeps other processes out of a store. The system releases it when
// the process ends, however it ends.
type fileLock struct{ file *os.File }

// lockFile takes the lock, and notes the process in the file for people.
func lockFile(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(path)
		return nil, errors.Join(fmt.Errorf("%w (process %s); stop it, or use PostgreSQL to run several servers",
			ErrInUse, strings.TrimSpace(string(holder))), file.Close())
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return &fileLock{file: file}, nil
}

// release gives the lock up. The file stays: removing it would let two
// processes lock two files of one name.
func (l *fileLock) release() error { return l.file.Close() }
