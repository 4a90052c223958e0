package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	uniqueViolation      = "23505"
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	diskFull             = "53100"
	readOnlyTransaction  = "25006"
	unknownDatabase      = "3D000"
	wrongPassword        = "28P01"
	noPrivilege          = "42501"

	classConnection    = "08"   // connection exceptions
	classAuthorisation = "28"   // who may connect
	classResources     = "53"   // insufficient resources, too many connections
	classShutdown      = "57P0" // shutting down, crashed, starting up
)

// translate makes errors of the driver those of the root: a database that can't
// be reached or has no room is busy. The address isn't in them.
func translate(err error) error {
	var refused *pgconn.PgError
	var unreachable *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, seqlease.ErrBusy), errors.Is(err, seqlease.ErrStorageFull), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, pgx.ErrNoRows):
		return err
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return errReadOnly
	case errors.As(err, &unreachable):
		return &unreachableError{reason: reason(err), lasting: isLasting(err)}
	case errors.As(err, &refused) && refused.Code == diskFull:
		return fmt.Errorf("%w: %w", seqlease.Explain(seqlease.ErrStorageFull,
			"the disk of the database is full and nothing was stored: free some space there, then send it again"), err)
	case errors.As(err, &refused) && refused.Code == readOnlyTransaction:
		return fmt.Errorf("%w: %w", errReadOnly, err)
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

// unreachableError says that there is no connection, in words for an operator.
// It is [seqlease.ErrBusy] to [errors.Is]: the same may work later.
type unreachableError struct {
	reason  string
	lasting bool // until somebody changes the address or the server's rules
}

// Error says why without saying where to.
func (e *unreachableError) Error() string { return "the database can't be reached: " + e.reason }

// Is makes the error [seqlease.ErrBusy].
func (e *unreachableError) Is(target error) bool { return target == seqlease.ErrBusy }

// errReadOnly is a database that takes no writes, as the former primary after a
// failover (B041): another may do so, or this one later.
var errReadOnly = seqlease.Explain(seqlease.ErrBusy, "the database takes no writes: it is read-only or a standby")

// isStale says that the connections which the pool has may all lead to a server
// that is no longer of use: it only reads, or it is shutting down.
func isStale(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, errReadOnly) || errors.As(err, &refused) && hasClass(refused.Code, classShutdown)
}

// isRefused says that the server refused a statement, and nothing was changed, for
// what may lie in what it was told.
func isRefused(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && !errors.Is(err, seqlease.ErrBusy) && !errors.Is(err, seqlease.ErrStorageFull)
}

// isLasting says that the server is there and will not let this user in.
func isLasting(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) &&
		(refused.Code == unknownDatabase || refused.Code == noPrivilege || hasClass(refused.Code, classAuthorisation))
}

// reason says why no connection was made without saying where to: the address
// may hold a password.
func reason(err error) string {
	var refused *pgconn.PgError
	var unknownHost *net.DNSError
	var late interface{ Timeout() bool }
	var code syscall.Errno
	switch {
	case errors.As(err, &refused):
		return refusal(refused.Code) + " (SQLSTATE " + refused.Code + ")"
	case errors.As(err, &unknownHost):
		return "the host name in its address can't be looked up"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return "no server listens at the host and port, or socket, of its address"
	case errors.As(err, &late) && late.Timeout():
		return "its host doesn't answer; check the address, the network and firewalls"
	case errors.As(err, &code):
		return code.Error()
	default:
		return "no connection; check the address, the network and the certificate"
	}
}

// refusal says in words why a server takes no connection.
func refusal(code string) string {
	switch {
	case code == unknownDatabase:
		return "the server has no database of the name in the address: create it first, for example with createdb"
	case code == wrongPassword:
		return "the server refuses the user's password"
	case hasClass(code, classAuthorisation):
		return "the server doesn't let this user in from here; see its pg_hba.conf"
	case code == noPrivilege:
		return "the user has no right to connect to this database"
	case hasClass(code, classResources):
		return "the server has no connection left, or no room"
	case hasClass(code, classShutdown):
		return "the server is starting up or shutting down"
	default:
		return "the server refuses the connection"
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

// isTaken says that there is a row with that key already.
func isTaken(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == uniqueViolation
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
		errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLeftBehind)
}
