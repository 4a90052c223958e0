package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seqlease/seqlease"
)

// emptied are the statements that empty the store, in order; the entries come last,
// as others look at them.
var emptied = []string{
	"empty_ticket", "empty_ticket_run", "empty_turn", "empty_lost", "empty_leased", "empty_lease", "empty_result", "empty_quarantine",
	"empty_failure", "empty_claim_record", "empty_edited", "empty_backfill", "empty_external_metadata", "empty_upload_key",
	"empty_submitted", "empty_approval_run", "empty_approval", "empty_data_use_terms", "empty_pipeline_version", "empty_version_switch", "reset_pipeline_version", "reset_organism",
}

// DeleteAllSequenceData empties the store, as [queue.AdminStore] says. It waits for deletions
// and large approvals that are under way, and other writers wait for it: it is for trying things out.
func (s *Store) DeleteAllSequenceData(ctx context.Context, by string) (int64, error) {
	organisms := s.organisms()
	release, err := s.deciding.take(ctx, organisms...)
	if err != nil {
		return 0, fmt.Errorf("delete everything: %w", err)
	}
	defer release()
	var entries int64
	err = s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		entries, err = deleteAll(ctx, t, by)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete everything: %w", err)
	}
	for _, o := range organisms {
		s.bell.Ring(o)
	}
	return entries, nil
}

// organisms are those that are registered.
func (s *Store) organisms() []seqlease.Organism {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.dictionaries.of))
}

func deleteAll(ctx context.Context, t *tx, by string) (entries int64, err error) {
	for _, statement := range emptied {
		if _, err := t.exec(ctx, statement); err != nil {
			return 0, err
		}
	}
	if entries, err = t.exec(ctx, "empty_entry"); err != nil {
		return 0, err
	}
	if err := noteAction(ctx, t, 0, seqlease.AuditNote{User: by, Action: seqlease.ActionDeleteAll, Entries: entries}); err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, "bump_everything")
	return entries, err
}
