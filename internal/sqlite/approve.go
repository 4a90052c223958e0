package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Approve releases the entries that the approval takes, all with one instant,
// and returns them in order. A listed entry that doesn't exist, is of another
// organism, isn't processed or has errors makes it a [*submission.StateError].
// What isn't listed is looked for before the writer is asked for, since there may be
// much to look at. As many entries as a part has at most are released in one
// transaction, more part by part.
func (s *Store) Approve(ctx context.Context, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	approved, err := s.approve(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("approve entries of %s: %w", a.Organism, err)
	}
	slices.SortFunc(approved, seqlease.AccessionVersion.Compare)
	return approved, nil
}

func (s *Store) approve(ctx context.Context, a submission.Approval) (approved []seqlease.AccessionVersion, err error) {
	names := a.Entries
	if names == nil {
		var found []namedEntry
		err := s.readLong(ctx, func(t *tx) (err error) {
			found, err = approvable(ctx, t, a, partEntries+1)
			return err
		})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		names = namesOf(found)
	}
	if len(names) > partEntries {
		return s.approveMany(ctx, a)
	}
	err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		approved, err = approveFew(ctx, t, a, names)
		s.changes.note(a.Organism, approved...)
		return err
	})
	return approved, err
}

// approvable finds so many entries that the approval takes.
func approvable(ctx context.Context, t *tx, a submission.Approval, limit int) ([]namedEntry, error) {
	o, err := organismState(ctx, t, a.Organism)
	if err != nil {
		return nil, err
	}
	return readEntries(ctx, t, "approvable_all", append(approvalArgs(o, a), named("limit", int64(limit))...))
}

// approvalArgs are those of the statements that tell what is approvable.
func approvalArgs(o organismRow, a submission.Approval) []any {
	return named("organism_id", o.id, "scope", string(a.Scope),
		"group_ids", orNull(a.GroupIDs, jsonIDs), "submitters", orNull(a.Submitters, jsonTexts))
}

// checkApproved returns what is wrong with entries that the approval names.
func checkApproved(ctx context.Context, t *tx, a submission.Approval, entries []seqlease.AccessionVersion, now int64) error {
	rows, err := entryStates(ctx, t, entries, now)
	if err != nil {
		return err
	}
	return checkStates(rows, a.Organism, []seqlease.Status{seqlease.Processed}, true)
}

// approveFew releases those of the entries that the approval takes in one transaction.
func approveFew(ctx context.Context, t *tx, a submission.Approval, entries []seqlease.AccessionVersion) ([]seqlease.AccessionVersion, error) {
	o, err := organismState(ctx, t, a.Organism)
	if err != nil {
		return nil, err
	}
	if a.Entries != nil {
		if err := checkApproved(ctx, t, a, entries, o.now); err != nil {
			return nil, err
		}
	}
	args := append(approvalArgs(o, a), named("entries", jsonEntries(entries), "now", o.now, "approver", a.Approver)...)
	approved := []seqlease.AccessionVersion{}
	err = t.rows(ctx, "approve_listed", args, func(scan func(...any) error) error {
		var av seqlease.AccessionVersion
		err := scan(&av.Accession, &av.Version)
		approved = append(approved, av)
		return err
	})
	if err != nil || len(approved) == 0 {
		return nil, err
	}
	return approved, noteApproved(ctx, t, o, a.Note(approved))
}

// noteApproved tells the audit log and those who read what is released.
func noteApproved(ctx context.Context, t *tx, o organismRow, note seqlease.AuditNote) error {
	if err := noteAction(ctx, t, o.id, note); err != nil {
		return err
	}
	_, err := bump(ctx, t, o.id, releasedScope)
	return err
}
