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

//go:embed sql/external.sql
var externalSQL string

// SetExternalMetadata replaces what an updater says of released entries, as
// [submission.ExternalStore] says.
func (s *Store) SetExternalMetadata(ctx context.Context, u submission.ExternalUpdate) error {
	o, err := s.organism(ctx, u.Organism)
	if err != nil {
		return err
	}
	err = s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error { return setExternal(ctx, tx, o.id, u) })
	})
	if err != nil {
		return fmt.Errorf("external metadata of %d entries of %s: %w", len(u.Entries), u.Organism, err)
	}
	return nil
}

func setExternal(ctx context.Context, tx pgx.Tx, organismID int32, u submission.ExternalUpdate) error {
	bodies := make(map[seqlease.AccessionVersion]string, len(u.Entries))
	names := make([]seqlease.AccessionVersion, len(u.Entries))
	for i, e := range u.Entries {
		names[i], bodies[e.AccessionVersion] = e.AccessionVersion, string(e.Body)
	}
	locked, err := lockEntries(ctx, tx, u.Organism, names)
	if err != nil {
		return err
	}
	states, err := readStates(ctx, tx, organismID, locked.ids)
	if err != nil {
		return err
	}
	locked.wantStatuses(states, seqlease.ApprovedForRelease)
	if err := locked.err(); err != nil || u.CheckOnly {
		return err
	}
	changed := int64(0)
	for ids := range slices.Chunk(locked.ids, linesAtOnce) {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = bodies[locked.names[id]]
		}
		tag, err := tx.Exec(ctx, externalSQL, pgx.StrictNamedArgs{"updater": u.Updater, "user": u.User, "ids": ids, "bodies": list})
		if err != nil {
			return err
		}
		changed += tag.RowsAffected()
	}
	if changed == 0 {
		return nil
	}
	note := seqlease.AuditNote{User: u.User, Action: seqlease.ActionExternalMetadata, Entries: changed, Detail: u.Updater}
	if err := noteAction(ctx, tx, organismID, note); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": organismID, "queues": false, "released": true})
	return err
}
