package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Approve releases the entries that the approval takes, all with one instant,
// and returns them in order. A listed entry that doesn't exist, is of another
// organism, isn't processed or has errors makes it a [*submission.StateError].
func (s *Store) Approve(ctx context.Context, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	var approved []seqlease.AccessionVersion
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		approved, err = approve(ctx, t, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("approve entries of %s: %w", a.Organism, err)
	}
	slices.SortFunc(approved, seqlease.AccessionVersion.Compare)
	return approved, nil
}

func approve(ctx context.Context, t *tx, a submission.Approval) ([]seqlease.AccessionVersion, error) {
	o, err := organismState(ctx, t, a.Organism)
	if err != nil {
		return nil, err
	}
	statement := "approve_all"
	args := named("organism_id", o.id, "now", o.now, "approver", a.Approver, "scope", string(a.Scope),
		"group_ids", orNull(a.GroupIDs, jsonIDs), "submitters", orNull(a.Submitters, jsonTexts))
	if a.Entries != nil {
		rows, err := entryStates(ctx, t, a.Entries, o.now)
		if err != nil {
			return nil, err
		}
		if err := checkStates(rows, a.Organism, []seqlease.Status{seqlease.Processed}, true); err != nil {
			return nil, err
		}
		statement = "approve_listed"
		args = append(args, sql.Named("entries", jsonEntries(a.Entries)))
	}
	approved := []seqlease.AccessionVersion{}
	err = t.rows(ctx, statement, args, func(scan func(...any) error) error {
		var av seqlease.AccessionVersion
		err := scan(&av.Accession, &av.Version)
		approved = append(approved, av)
		return err
	})
	if err != nil || len(approved) == 0 {
		return nil, err
	}
	if err := noteAction(ctx, t, o.id, a.Note(approved)); err != nil {
		return nil, err
	}
	_, err = bump(ctx, t, o.id, releasedScope)
	return approved, err
}
