package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// SetPaused pauses or resumes the organism, or with version > 0 one live version
// of it (L16). Resuming changes the marks (L14).
func (s *Store) SetPaused(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, paused bool, note *queue.OperatorNote) error {
	call := operatorCall{action: seqlease.ActionResume, note: note}
	if paused {
		call.action = seqlease.ActionPause
	}
	err := s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) error {
		return setPaused(ctx, t, a, o, version, paused, &call)
	})
	if err != nil {
		return fmt.Errorf("pause or resume %s v%d: %w", o, version, err)
	}
	return nil
}

func setPaused(
	ctx context.Context, t *tx, a *added, o seqlease.Organism, version seqlease.PipelineVersion, paused bool, call *operatorCall,
) error {
	row, err := organismState(ctx, t, o)
	if err != nil {
		return err
	}
	args := named("organism_id", row.id, "paused", paused)
	statement := "pause_organism"
	if version > 0 {
		statement = "pause_version"
		args = append(args, named("pipeline_version", int64(version))...)
	}
	n, err := t.exec(ctx, statement, args...)
	if err == nil && n == 0 {
		err = notLive(o, version)
	}
	if err == nil {
		err = call.count(ctx, t, row.id, 0)
	}
	switch {
	case err != nil || paused:
		return err
	case version > 0:
		return a.to(ctx, t, row.id, int64(version))
	default:
		return a.toLive(ctx, t, row.id, o)
	}
}

// Paused says what is paused of the organism.
func (s *Store) Paused(ctx context.Context, o seqlease.Organism) (queue.PauseState, error) {
	var state queue.PauseState
	known := false
	err := s.readOnce().rows(ctx, "paused", named("organism", string(o)), func(scan func(...any) error) error {
		var version sql.NullInt64
		err := scan(&state.Organism, &version)
		known = true
		if version.Valid {
			state.Versions = append(state.Versions, seqlease.PipelineVersion(version.Int64))
		}
		return err
	})
	if err == nil && !known {
		err = queue.UnknownOrganism(o)
	}
	if err != nil {
		return queue.PauseState{}, fmt.Errorf("what is paused of %s: %w", o, storeError(err))
	}
	return state, nil
}
