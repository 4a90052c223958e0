package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seqlease/seqlease"
)

// The SQLSTATEs that are told apart (PostgreSQL manual, appendix A).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03"

	classConnection = "08"   // connection exceptions
	classResources  = "53"   // insufficient resources, too many connections
	classShutdown   = "57P0" // shutting down, crashed, starting up
)

// translate makes errors of the driver those of the root: a database that can't
// be reached or has no room is busy. The address isn't in them.
func translate(err error) error {
	var refused *pgconn.PgError
	var unreachable *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, seqlease.ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, pgx.ErrNoRows):
		return err
	case errors.As(err, &unreachable):
		return fmt.Errorf("%w: the database can't be reached: %s", seqlease.ErrBusy, reason(err))
	case errors.As(err, &refused):
		if refused.Code == lockNotAvailable || hasClass(refused.Code, classConnection, classResources, classShutdown) {
			return fmt.Errorf("%w: %w", seqlease.ErrBusy, err)
		}
		return err
	case isConnectionLost(err):
		return fmt.Errorf("%w: the connection to the database broke: %w", seqlease.ErrBusy, err)
	default:
		return err
	}
}

// reason says why no connection was made without saying where to.
func reason(err error) string {
	var refused *pgconn.PgError
	var code syscall.Errno
	switch {
	case errors.As(err, &refused):
		return "SQLSTATE " + refused.Code
	case errors.As(err, &code):
		return code.Error()
	default:
		return "no connection; check the address, the network and the certificate"
	}
}

func hasClass(code string, classes ...string) bool {
	for _, class := range classes {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// isConflict says that the server undid the transaction for the sake of another.
func isConflict(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == serializationFailure || refused.Code == deadlockDetected)
}

func isUndefinedTable(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == undefinedTable
}

// isConnectionLost says that the server gave no answer, or that nobody waited for
// it: what was asked may have been done or not.
func isConnectionLost(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.SeverityUnlocalized == "FATAL" || refused.SeverityUnlocalized == "PANIC"
	}
	var network interface{ Timeout() bool } // net.Error and pgconn's own
	var closed interface{ SafeToRetry() bool }
	return errors.As(err, &network) || errors.As(err, &closed) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
