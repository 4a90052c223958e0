//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import "errors"

// fileLock can't be had on this system.
type fileLock struct{}

// lockFile refuses: without a lock that ends with its process, two servers
// could serve one file.
func lockFile(string) (*fileLock, error) {
	return nil, errors.New("the embedded store can't lock its file on this system; use PostgreSQL")
}

func (l *fileLock) release() error { return nil }
