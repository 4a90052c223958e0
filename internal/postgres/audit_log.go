package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/audit_log.sql
var auditLogSQL string

// AuditLog lists rows of the audit log, as [queue.AuditStore] says.
func (s *Store) AuditLog(ctx context.Context, f queue.AuditFilter, before int64, limit int) (events []seqlease.AuditEvent, err error) {
	var organismID int32
	if f.Organism != "" {
		o, err := s.organism(ctx, f.Organism)
		if err != nil {
			return nil, err
		}
		organismID = o.id
	}
	arguments := pgx.StrictNamedArgs{
		"before": before, "organism": organismID, "user": f.User, "action": string(f.Action), "accession": string(f.Accession),
		"group_id": f.GroupID, "from": orNull(f.From), "to": orNull(f.To), "limit": limit,
	}
	err = s.repeat(ctx, func() error {
		return s.transaction(ctx, readOnly, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, auditLogSQL, planned, arguments)
			if err != nil {
				return err
			}
			events, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e seqlease.AuditEvent, err error) {
				err = row.Scan(&e.Number, &e.At, &e.User, &e.Action, &e.Organism, &e.GroupID, &e.Accession, &e.Version, &e.Entries, &e.Detail)
				e.At = e.At.UTC()
				return e, err
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return events, nil
}
