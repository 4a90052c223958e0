package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_approvable.sql
var lockApprovableSQL string

//go:embed sql/approve.sql
var approveSQL string

// Approve releases what the approval takes, as [submission.Store] says.
func (s *Store) Approve(ctx context.Context, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	o, err := s.organism(ctx, a.Organism)
	if err != nil {
		return nil, err
	}
	var approved []seqlease.AccessionVersion
	err = s.retry(ctx, func() error {
		return s.closing(ctx, byKey, func(tx pgx.Tx) (last *pgx.Batch, err error) {
			approved, err = approve(ctx, tx, o.id, a)
			if err != nil || len(approved) == 0 {
				return nil, err
			}
			return noteAndBump(o.id, a.Note(approved), false, true), nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("approve entries of %s: %w", a.Organism, err)
	}
	slices.SortFunc(approved, seqlease.AccessionVersion.Compare)
	return approved, nil
}

func approve(ctx context.Context, tx pgx.Tx, organismID int32, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	worst := outcomeOf(seqlease.HasWarnings)
	if a.Scope == seqlease.ApproveWithoutWarnings {
		worst = outcomeOf(seqlease.NoIssues)
	}
	ids, err := lockForApproval(ctx, tx, organismID, a, worst)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	// The locks may have been waited for: this statement tests everything anew.
	rows, err := tx.Query(ctx, approveSQL, pgx.StrictNamedArgs{
		"organism": organismID, "ids": ids, "worst": worst, "groups": a.GroupIDs, "submitters": a.Submitters, "approver": a.Approver,
	})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[seqlease.AccessionVersion])
}

// lockForApproval locks the entries that may be approved. Named ones must exist,
// be of the organism, be processed and have no errors.
func lockForApproval(ctx context.Context, tx pgx.Tx, organismID int32, a submission.Approval, worst int16) ([]int64, error) {
	if a.Entries == nil {
		rows, err := tx.Query(ctx, lockApprovableSQL, planned, pgx.StrictNamedArgs{
			"organism": organismID, "worst": worst, "groups": a.GroupIDs, "submitters": a.Submitters,
		})
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	locked, err := lockEntries(ctx, tx, a.Organism, a.Entries)
	if err != nil {
		return nil, err
	}
	states, err := readStates(ctx, tx, organismID, locked.ids)
	if err != nil {
		return nil, err
	}
	locked.wantStatuses(states, seqlease.Processed)
	for _, id := range locked.ids {
		if states[id].status == seqlease.Processed && states[id].result == seqlease.HasErrors {
			locked.wrong.WithErrors = append(locked.wrong.WithErrors, locked.names[id])
		}
	}
	slices.SortFunc(locked.wrong.WithErrors, seqlease.AccessionVersion.Compare)
	return locked.ids, locked.err()
}
