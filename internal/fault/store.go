//go:build linux

package fault

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/fault/evidence"
)

// store is the database of a fleet, read behind the servers' backs.
type store interface {
	// address is what servers are given.
	address() string
	// open returns a connection for reading.
	open(ctx context.Context) (*sql.DB, error)
	// question is the statement that reads all entries in one snapshot, see [storedIn].
	question() string
	close() error
}

// storedIn reads what the database holds of every entry, in one statement and so
// in one snapshot. Its columns: accession, version, submission id, tickets,
// comma-separated attempt ids of the leases, attempt id of the present result
// or an empty text, whether it is quarantined. Attempt ids are 32 hexadecimal
// digits, with or without hyphens.
func storedIn(ctx context.Context, s store) (_ []evidence.Stored, err error) {
	db, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	rows, err := db.QueryContext(ctx, s.question())
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var list []evidence.Stored
	for rows.Next() {
		var x evidence.Stored
		var leases, result string
		if err := rows.Scan(&x.Accession, &x.Version, &x.SubmissionID, &x.Tickets, &leases, &result, &x.Quarantined); err != nil {
			return nil, err
		}
		if x.Leases, err = attempts(leases); err != nil {
			return nil, err
		}
		if of, err := attempts(result); err != nil {
			return nil, err
		} else if len(of) == 1 {
			x.Result = of[0]
		}
		list = append(list, x)
	}
	return list, rows.Err()
}

// attempts reads comma-separated attempt ids.
func attempts(text string) ([]seqlease.AttemptID, error) {
	var list []seqlease.AttemptID
	for _, digits := range splitList(text) {
		if len(digits) == 32 {
			digits = digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
		}
		id, err := seqlease.ParseAttemptID(digits)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}
