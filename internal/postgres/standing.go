package postgres

import (
	"context"
	_ "embed"
	"fmt"

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
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return withSettings(ctx, c, planSettingsSQL, standingsSQL, arguments, func(rows pgx.Rows) (err error) {
				list, err = pgx.CollectRows(rows, scanStanding)
				return err
			})
		})
	})
	return list, err
}

func scanStanding(row pgx.CollectableRow) (st submission.Standing, err error) {
	var status int
	var outcome *int
	err = row.Scan(&st.Accession, &st.Version, &st.Organism, &st.GroupID, &status, &outcome, &st.IsRevocation)
	if err != nil {
		return st, err
	}
	st.Status, st.Result = seqlease.Statuses()[status], resultOf(outcome)
	return st, nil
}

// resultOf is empty for null, which is the outcome while in processing.
func resultOf(outcome *int) seqlease.ProcessingResult {
	if outcome == nil {
		return ""
	}
	return seqlease.ProcessingResults()[*outcome]
}
