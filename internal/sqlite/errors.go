package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seqlease/seqlease"
)

var (
	// ErrInUse says that another process serves the store's file.
	ErrInUse = errors.New("another process serves this file")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// storeError translates what the driver says, by result code.
func storeError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, seqlease.ErrStorageFull), errors.Is(err, seqlease.ErrBusy): // told already
		return err
	case e.Code()&0xff == sqlite3.SQLITE_FULL, e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("%w: %w", seqlease.Explain(seqlease.ErrStorageFull,
			"the disk that holds the store is full and nothing was stored: free some space on the server, then send it again"), err)
	case e.Code()&0xff == sqlite3.SQLITE_BUSY, e.Code()&0xff == sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: another program keeps the store's file locked: %w", seqlease.ErrBusy, err)
	default:
		return err
	}
}
