package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// AuditLog lists rows of the audit log, as [queue.AuditStore] says.
func (s *Store) AuditLog(ctx context.Context, f queue.AuditFilter, before int64, limit int) ([]seqlease.AuditEvent, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var events []seqlease.AuditEvent
	err := s.read(ctx, func(t *tx) error {
		var organismID int64
		if f.Organism != "" {
			o, err := organismState(ctx, t, f.Organism)
			if err != nil {
				return err
			}
			organismID = o.id
		}
		args := named("before", before, "organism_id", organismID, "user", f.User, "action", string(f.Action),
			"accession", string(f.Accession), "group_id", f.GroupID, "from", orNullTime(f.From), "to", orNullTime(f.To), "limit", int64(limit))
		return t.rows(ctx, "audit_log", args, func(scan func(...any) error) error {
			var e seqlease.AuditEvent
			var at int64
			err := scan(&e.Number, &at, &e.User, &e.Action, &e.Organism, &e.GroupID, &e.Accession, &e.Version, &e.Entries, &e.Detail)
			e.At = instant(at)
			events = append(events, e)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return events, nil
}
