package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/standings.sql
var standingsSQL string

// Standings returns where the entries stand, as [submission.StandingStore] says.
func (s *Store) Standings(ctx context.Context, entries []seqlease.AccessionVersion) ([]submission.Standing, error) {
	accessions, versions := columns(entries)
	list, err := s.standings(ctx, pgx.StrictNamedArgs{"accessions": accessions, "versions": versions})
	if err != nil {
		return nil, fmt.Errorf("where %d entries stand: %w", len(entries), err)
	}
	return list, nil
}

// NewestStandings returns where the highest versions stand, as
// [submission.StandingStore] says.
func (s *Store) NewestStandings(ctx context.Context, accessions []seqlease.Accession) ([]submission.Standing, error) {
	list, err := s.standings(ctx, newestOf(accessions))
	if err != nil {
		return nil, fmt.Errorf("where %d accessions stand: %w", len(accessions), err)
	}
	return list, nil
}

// newestOf are the arguments of standings for highest versions.
func newestOf(accessions []seqlease.Accession) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"accessions": texts(accessions), "versions": make([]*int64, len(accessions))}
}

func (s *Store) standings(ctx context.Context, arguments pgx.StrictNamedArgs) (list []submission.Standing, err error) {
	err = s.repeat(ctx, func() error {
		list = nil
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, standingsSQL, arguments, func(rows pgx.Rows) error {
				return eachStanding(rows, func(st submission.Standing, _ int64) { list = append(list, st) })
			})
		})
	})
	return list, err
}

// newestLocked returns where the highest versions stand at this instant, and whether
// all of them are among those with the ids, which are in order.
func newestLocked(ctx context.Context, tx pgx.Tx, accessions []seqlease.Accession, ids []int64) (found []submission.Standing, locked bool, err error) {
	rows, err := tx.Query(ctx, standingsSQL, newestOf(accessions))
	if err != nil {
		return nil, false, err
	}
	found, locked = make([]submission.Standing, 0, len(accessions)), true
	err = eachStanding(rows, func(st submission.Standing, id int64) {
		found = append(found, st)
		_, isLocked := slices.BinarySearch(ids, id)
		locked = locked && isLocked
	})
	return found, locked, err
}

// eachStanding reads the rows of the statement standings; id is the store's.
func eachStanding(rows pgx.Rows, each func(st submission.Standing, id int64)) error {
	var st submission.Standing
	var id int64
	var status int
	var outcome *int
	into := []any{&id, &st.Accession, &st.Version, &st.Organism, &st.GroupID, &status, &outcome, &st.IsRevocation}
	_, err := pgx.ForEachRow(rows, into, func() error {
		st.Status, st.Result = seqlease.Statuses()[status], resultOf(outcome)
		each(st, id)
		return nil
	})
	return err
}

// resultOf is empty for null, which is the outcome while in processing.
func resultOf(outcome *int) seqlease.ProcessingResult {
	if outcome == nil {
		return ""
	}
	return seqlease.ProcessingResults()[*outcome]
}
