package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// Edit replaces the submitted data of a processed entry: a new revision, whose
// tickets wait with 0 attempts; results and leases of the old one are gone (L10), as
// [submission.EditStore] says.
func (s *Store) Edit(ctx context.Context, e submission.Edit) error {
	packed, err := s.Pack(e.Organism, e.Data)
	if err == nil {
		err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) error {
			s.changes.note(e.Organism, e.AccessionVersion)
			return edit(ctx, t, a, e, packed)
		})
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", e.AccessionVersion, err)
	}
	return nil
}

func edit(ctx context.Context, t *tx, a *added, e submission.Edit, packed seqlease.Packed) error {
	o, err := organismState(ctx, t, e.Organism)
	if err != nil {
		return err
	}
	rows, err := entryStates(ctx, t, []seqlease.AccessionVersion{e.AccessionVersion}, o.now)
	if err != nil {
		return err
	}
	if err := checkStates(rows, e.Organism, []seqlease.Status{seqlease.Processed}, false); err != nil {
		return err
	}
	if rows[0].isRevocation {
		return &submission.StateError{Revocations: []seqlease.AccessionVersion{e.AccessionVersion}}
	}
	id := rows[0].id
	if _, err := t.exec(ctx, "edit_note_attempts", named("entry_id", id, "organism_id", o.id)...); err != nil {
		return err
	}
	if err := deleteWork(ctx, t, o.id, []int64{id}); err != nil {
		return err
	}
	var revision int64
	if err := t.row(ctx, "edit_entry", named("entry_id", id), &revision); err != nil {
		return err
	}
	data := named("entry_id", id, "revision", revision, "dictionary_id", packed.Dictionary, "body", packed.Bytes)
	if _, err := t.exec(ctx, "edit_data", data...); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "edit_forget_data", data[:2]...); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "edit_tickets", named("entry_id", id)...); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "note_turns", named("entry_ids", jsonIDs([]int64{id}))...); err != nil {
		return err
	}
	note := seqlease.AuditNote{User: e.User, Action: seqlease.ActionEdit, Named: []seqlease.AccessionVersion{e.AccessionVersion}}
	if err := noteAction(ctx, t, o.id, note); err != nil {
		return err
	}
	return a.toLive(ctx, t, o.id, e.Organism)
}
