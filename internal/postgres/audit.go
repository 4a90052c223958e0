package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
)

//go:embed sql/note_action.sql
var noteActionSQL string

// noteAction writes to the audit log in the transaction of the change; organism 0
// is none.
func noteAction(ctx context.Context, tx pgx.Tx, organismID int32, n seqlease.AuditNote) error {
	if _, err := tx.Exec(ctx, noteActionSQL, noteArguments(organismID, n)); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

func noteArguments(organismID int32, n seqlease.AuditNote) pgx.StrictNamedArgs {
	accessions, versions, entries := []*string{nil}, []*int64{nil}, n.Entries
	if len(n.Named) > 0 {
		accessions, versions, entries = nil, nil, 1
		for _, av := range n.Named {
			accession, version := string(av.Accession), int64(av.Version)
			accessions, versions = append(accessions, &accession), append(versions, &version)
		}
	}
	return pgx.StrictNamedArgs{
		"user": n.User, "action": string(n.Action), "organism": organismID, "group": n.GroupID,
		"accessions": accessions, "versions": versions, "entries": entries, "detail": n.Detail,
	}
}

// noteAndBump are the last statements of a change of the queues or of what is released:
// the audit log's and, after it, the counters', which others may wait for.
func noteAndBump(organismID int32, n seqlease.AuditNote, queues, released bool) *pgx.Batch {
	last := &pgx.Batch{}
	last.Queue(noteActionSQL, noteArguments(organismID, n))
	last.Queue(bumpSQL, pgx.StrictNamedArgs{"organism": organismID, "queues": queues, "released": released})
	return last
}
