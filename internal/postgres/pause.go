package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

//go:embed sql/version_state.sql
var versionStateSQL string

//go:embed sql/pause_organism.sql
var pauseOrganismSQL string

//go:embed sql/pause_version.sql
var pauseVersionSQL string

//go:embed sql/paused.sql
var pausedSQL string

// liveVersion returns the version, or the current one for 0, if it is live; else
// the error is [seqlease.ErrPipelineUnknown].
func (s *Store) liveVersion(ctx context.Context, organismID int32, o seqlease.Organism, version seqlease.PipelineVersion) (int64, error) {
	var current seqlease.PipelineVersion
	var live bool
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, versionStateSQL, pgx.StrictNamedArgs{"organism": organismID, "version": int64(version)}).Scan(&current, &live)
		})
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("pipeline version %d of %s: %w", version, o, err)
	case !live:
		return 0, notLive(o, version)
	case version == 0:
		return int64(current), nil
	default:
		return int64(version), nil
	}
}

func notLive(o seqlease.Organism, version seqlease.PipelineVersion) error {
	return seqlease.Explain(seqlease.ErrPipelineUnknown, "pipeline version %d of %s is not registered, or is outdated", version, o)
}

// SetPaused pauses or resumes an organism or a version (L16), as
// [queue.OperatorStore] says.
func (s *Store) SetPaused(ctx context.Context, organism seqlease.Organism, version seqlease.PipelineVersion, paused bool, note *queue.OperatorNote) error {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return err
	}
	statement, arguments := pauseOrganismSQL, pgx.StrictNamedArgs{"organism": o.id, "paused": paused}
	if version != 0 {
		statement, arguments = pauseVersionSQL, pgx.StrictNamedArgs{"organism": o.id, "paused": paused, "version": int64(version)}
	}
	call := operatorCall{action: seqlease.ActionResume, note: note}
	if paused {
		call.action = seqlease.ActionPause
	}
	err = s.repeat(ctx, func() error {
		call.begin()
		return s.change(ctx, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, statement, arguments)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return notLive(organism, version)
			}
			if err := call.count(ctx, tx, o.id, 0); err != nil || paused {
				return err
			}
			_, err = tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": o.id, "queues": true, "released": false})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("pause or resume %s: %w", organism, err)
	}
	call.committed()
	if !paused {
		s.bell.Ring(organism)
	}
	return nil
}

// Paused says what is paused (L16).
func (s *Store) Paused(ctx context.Context, organism seqlease.Organism) (queue.PauseState, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return queue.PauseState{}, err
	}
	var p queue.PauseState
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, pausedSQL, pgx.StrictNamedArgs{"organism": o.id}).Scan(&p.Organism, &p.Versions)
		})
	})
	if err != nil {
		return queue.PauseState{}, fmt.Errorf("what is paused of %s: %w", organism, err)
	}
	return p, nil
}
