package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// AuditStore reads the audit log.
type AuditStore interface {
	// AuditLog lists at most limit rows that the filter takes, newest first, with
	// numbers below before (0: from the newest).
	AuditLog(ctx context.Context, f AuditFilter, before int64, limit int) ([]seqlease.AuditEvent, error)
}

// AuditFilter says which rows of the audit log are meant. All conditions must
// hold; zero values take everything.
type AuditFilter struct {
	Organism  seqlease.Organism
	User      string
	Action    seqlease.Action
	Accession seqlease.Accession // rows that name an entry of it
	GroupID   int64
	// From and To bound the instant, inclusive and exclusive.
	From, To time.Time
}

// AuditLog lists at most limit rows of the audit log, newest first, behind the row
// with the number before (0: from the newest). limit is 1 to [MaxPage]. Errors:
// [*seqlease.InvalidError] naming the parameter, [seqlease.ErrUnknownOrganism].
func (q *Queue) AuditLog(ctx context.Context, f AuditFilter, before int64, limit int) ([]seqlease.AuditEvent, error) {
	switch {
	case limit < 1 || limit > MaxPage:
		return nil, pageOutOfRange(limit)
	case f.Action != "" && !slices.Contains(seqlease.Actions(), f.Action):
		return nil, seqlease.InvalidParameter("action", fmt.Sprintf("action can be one of %v, not %.80q", seqlease.Actions(), f.Action))
	case f.GroupID < 0:
		return nil, seqlease.InvalidParameter("groupId", fmt.Sprintf("groupId must be at least 1, not %d", f.GroupID))
	case !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To):
		return nil, seqlease.InvalidParameter("to", "to must be after from")
	case !seqlease.IsStorable(f.User) || !seqlease.IsStorable(string(f.Accession)):
		return nil, nil // no row has such a text
	}
	if f.Organism != "" {
		if _, err := q.organisms.Get(f.Organism); err != nil {
			return nil, err
		}
	}
	events, err := q.store.AuditLog(ctx, f, before, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return events, nil
}
