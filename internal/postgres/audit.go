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
	accessions, versions, entries := []*string{nil}, []*int64{nil}, n.Entries
	if len(n.Named) > 0 {
		accessions, versions, entries = nil, nil, 1
		for _, av := range n.Named {
			accession, version := string(av.Accession), int64(av.Version)
			accessions, versions = append(accessions, &accession), append(versions, &version)
		}
	}
	_, err := tx.Exec(ctx, noteActionSQL, pgx.StrictNamedArgs{
		"user": n.User, "action": string(n.Action), "organism": organismID, "group": n.GroupID,
		"accessions": accessions, "versions": versions, "entries": entries, "detail": n.Detail,
	})
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}
