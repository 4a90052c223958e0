package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

// Candidates lists the versions that may become current, as [reprocess.SwitchStore] says.
func (s *Store) Candidates(ctx context.Context) ([]reprocess.Candidate, error) {
	var list []reprocess.Candidate
	err := s.readOnce().rows(ctx, "switch_candidates", nil, func(scan func(...any) error) error {
		var c reprocess.Candidate
		err := scan(&c.Organism, &c.Current, &c.Version)
		list = append(list, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list candidates: %w", storeError(err))
	}
	return list, nil
}

// candidateArgs name the organism and the versions.
func candidateArgs(o organismRow, c reprocess.Candidate) []any {
	return named("organism_id", o.id, "current", int64(c.Current), "pipeline_version", int64(c.Version))
}

// FindBlocker looks for an entry that the candidate lacks, as [reprocess.SwitchStore]
// says. No writer waits for it.
func (s *Store) FindBlocker(ctx context.Context, c reprocess.Candidate, after int64, limit int) (look reprocess.Look, err error) {
	err = s.read(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, c.Organism)
		if err != nil {
			return err
		}
		var looked int
		args := append(candidateArgs(o, c), named("after", after, "limit", int64(limit))...)
		err = t.row(ctx, "find_blocker", args, &looked, &look.Last, &look.Blocker)
		look.End = looked < limit
		return err
	})
	if err != nil {
		return reprocess.Look{}, fmt.Errorf("look for what keeps version %d of %s from becoming current: %w", c.Version, c.Organism, err)
	}
	return look, nil
}

// Compare counts the results of both versions, as [reprocess.SwitchStore] says.
func (s *Store) Compare(ctx context.Context, c reprocess.Candidate) (standing reprocess.Standing, err error) {
	err = s.read(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, c.Organism)
		if err != nil {
			return err
		}
		return t.row(ctx, "compare_versions", candidateArgs(o, c), &standing.Current, &standing.Candidate, &standing.Held, &standing.CurrentHeld)
	})
	if err != nil {
		return reprocess.Standing{}, fmt.Errorf("compare versions %d and %d of %s: %w", c.Current, c.Version, c.Organism, err)
	}
	return standing, nil
}

// MaySwitch says whether nothing keeps the candidate from becoming current, as
// [reprocess.SwitchStore] says. No writer waits for it.
func (s *Store) MaySwitch(ctx context.Context, c reprocess.Candidate) (may bool, err error) {
	err = s.read(ctx, func(t *tx) (err error) {
		_, may, err = maySwitch(ctx, t, c)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("ask whether %s may switch to version %d: %w", c.Organism, c.Version, err)
	}
	return may, nil
}

// Switch makes the candidate the current version (V5), as [reprocess.SwitchStore] says.
func (s *Store) Switch(ctx context.Context, c reprocess.Candidate) (switched bool, err error) {
	err = s.writeAndRing(ctx, func(ctx context.Context, t *tx, a *added) (err error) {
		switched, err = switchTo(ctx, t, a, c)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("switch %s to version %d: %w", c.Organism, c.Version, err)
	}
	return switched, nil
}

func maySwitch(ctx context.Context, t *tx, c reprocess.Candidate) (o organismRow, may bool, err error) {
	if o, err = organismState(ctx, t, c.Organism); err != nil {
		return o, false, err
	}
	return o, may, t.row(ctx, "may_switch", candidateArgs(o, c), &may)
}

func switchTo(ctx context.Context, t *tx, a *added, c reprocess.Candidate) (bool, error) {
	o, may, err := maySwitch(ctx, t, c)
	if err != nil || !may {
		return false, err
	}
	args := candidateArgs(o, c)
	if _, err := t.exec(ctx, "switch", args...); err != nil {
		return false, err
	}
	version := named("organism_id", o.id, "pipeline_version", int64(c.Version))
	for _, statement := range []string{"switch_note", "switch_backfills"} {
		if _, err := t.exec(ctx, statement, version...); err != nil {
			return false, err
		}
	}
	note := seqlease.AuditNote{User: seqlease.SystemUser, Action: seqlease.ActionSwitch, Detail: fmt.Sprintf("pipeline version %d after %d", c.Version, c.Current)}
	if err := noteAction(ctx, t, o.id, note); err != nil {
		return false, err
	}
	if _, err := bump(ctx, t, o.id, releasedScope); err != nil {
		return false, err
	}
	return true, a.toLive(ctx, t, o.id, c.Organism)
}
