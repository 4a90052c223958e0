package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/reprocess"
)

//go:embed sql/switch_candidates.sql
var switchCandidatesSQL string

//go:embed sql/find_blocker.sql
var findBlockerSQL string

//go:embed sql/compare_versions.sql
var compareVersionsSQL string

//go:embed sql/switch_settings.sql
var switchSettingsSQL string

//go:embed sql/lock_results.sql
var lockResultsSQL string

//go:embed sql/may_switch.sql
var maySwitchSQL string

//go:embed sql/switch.sql
var switchSQL string

// Candidates lists the versions that may become current, as [reprocess.SwitchStore] says.
func (s *Store) Candidates(ctx context.Context) ([]reprocess.Candidate, error) {
	list, err := collect(ctx, s, switchCandidatesSQL, pgx.StrictNamedArgs{}, pgx.RowToStructByPos[reprocess.Candidate])
	if err != nil {
		return nil, fmt.Errorf("list candidates: %w", err)
	}
	return list, nil
}

// candidateArguments name the organism and the versions.
func candidateArguments(organismID int32, c reprocess.Candidate) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"organism": organismID, "current": int64(c.Current), "version": int64(c.Version)}
}

// FindBlocker looks for an entry that the candidate lacks, as [reprocess.SwitchStore] says.
func (s *Store) FindBlocker(ctx context.Context, c reprocess.Candidate, after int64, limit int) (reprocess.Look, error) {
	o, err := s.organism(ctx, c.Organism)
	if err != nil {
		return reprocess.Look{}, err
	}
	arguments := candidateArguments(o.id, c)
	arguments["after"], arguments["limit"] = after, limit
	var look reprocess.Look
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error {
			var looked int
			err := tx.QueryRow(ctx, findBlockerSQL, arguments).Scan(&looked, &look.Last, &look.Blocker)
			look.End = looked < limit
			return err
		})
	})
	if err != nil {
		return reprocess.Look{}, fmt.Errorf("look for what keeps version %d of %s from becoming current: %w", c.Version, c.Organism, err)
	}
	return look, nil
}

// Compare counts the results of both versions, as [reprocess.SwitchStore] says.
func (s *Store) Compare(ctx context.Context, c reprocess.Candidate) (reprocess.Standing, error) {
	o, err := s.organism(ctx, c.Organism)
	if err != nil {
		return reprocess.Standing{}, err
	}
	list, err := collect(ctx, s, compareVersionsSQL, candidateArguments(o.id, c), pgx.RowToStructByPos[reprocess.Standing])
	if err != nil {
		return reprocess.Standing{}, fmt.Errorf("compare versions %d and %d of %s: %w", c.Current, c.Version, c.Organism, err)
	}
	return list[0], nil
}

// MaySwitch says whether nothing keeps the candidate from becoming current, as
// [reprocess.SwitchStore] says.
func (s *Store) MaySwitch(ctx context.Context, c reprocess.Candidate) (may bool, err error) {
	o, err := s.organism(ctx, c.Organism)
	if err != nil {
		return false, err
	}
	err = s.repeat(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, maySwitchSQL, candidateArguments(o.id, c)).Scan(&may) })
	})
	if err != nil {
		return false, fmt.Errorf("ask whether %s may switch to version %d: %w", c.Organism, c.Version, err)
	}
	return may, nil
}

// Switch makes the candidate the current version (V5), as [reprocess.SwitchStore]
// says. The lock on results is what makes an acceptance that waits for it see the
// switch, and so count what it changes of the released data (ADR 25). Whoever stored a
// result before is waited for, within the bounds of the settings. Others queue behind
// that; where one of them has a lease that is waited for here, such as an edit, the
// server lets it go first after a second (deadlock_timeout).
func (s *Store) Switch(ctx context.Context, c reprocess.Candidate) (switched bool, err error) {
	o, err := s.organism(ctx, c.Organism)
	if err != nil {
		return false, err
	}
	// A repetition finds that the version is current.
	err = s.repeat(ctx, func() error {
		return s.transaction(ctx, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
			switched, err = switchTo(ctx, tx, o.id, c)
			return err
		})
	})
	if isCanceled(err) { // by the settings
		err = fmt.Errorf("%w: %w", seqlease.ErrBusy, err)
	}
	if err != nil {
		return false, fmt.Errorf("switch %s to version %d: %w", c.Organism, c.Version, err)
	}
	if switched {
		s.forget(o.id, c.Current)
		s.ringFor(o.id)
	}
	return switched, nil
}

// isCanceled says that a statement took longer than it may.
func isCanceled(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == queryCanceled
}

func switchTo(ctx context.Context, tx pgx.Tx, organismID int32, c reprocess.Candidate) (bool, error) {
	if _, err := tx.Exec(ctx, switchSettingsSQL); err != nil {
		return false, err
	}
	arguments := candidateArguments(organismID, c)
	if _, err := tx.Exec(ctx, lockResultsSQL); err != nil {
		return false, err
	}
	var may bool
	if err := tx.QueryRow(ctx, maySwitchSQL, arguments).Scan(&may); err != nil || !may {
		return false, err
	}
	var moved int64
	if err := tx.QueryRow(ctx, switchSQL, arguments).Scan(&moved); err != nil || moved == 0 {
		return false, err
	}
	note := seqlease.AuditNote{User: seqlease.SystemUser, Action: seqlease.ActionSwitch, Detail: fmt.Sprintf("pipeline version %d after %d", c.Version, c.Current)}
	if err := noteAction(ctx, tx, organismID, note); err != nil {
		return false, err
	}
	_, err := tx.Exec(ctx, bumpSQL, pgx.StrictNamedArgs{"organism": organismID, "queues": true, "released": true})
	return true, err
}
