package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_accessions.sql
var lockAccessionsSQL string

//go:embed sql/newest_terms.sql
var newestTermsSQL string

//go:embed sql/change_terms.sql
var changeTermsSQL string

//go:embed sql/terms_history.sql
var termsHistorySQL string

// ChangeTerms adds terms to the history of accessions, as [submission.TermsStore]
// says.
func (s *Store) ChangeTerms(ctx context.Context, c submission.TermsChange) error {
	err := s.retry(ctx, func() error {
		return s.change(ctx, func(tx pgx.Tx) error { return changeTerms(ctx, tx, c) })
	})
	if err != nil {
		return fmt.Errorf("change the data use terms of %d accessions: %w", len(c.Accessions), err)
	}
	return nil
}

func changeTerms(ctx context.Context, tx pgx.Tx, c submission.TermsChange) error {
	organisms, err := lockAccessions(ctx, tx, c.Accessions)
	if err != nil {
		return err
	}
	// The locks may have been waited for: this statement sees what they were waited for.
	stored, err := newestTerms(ctx, tx, c.Accessions)
	if err != nil {
		return err
	}
	if err := submission.RefuseTerms(c.Terms, stored); err != nil {
		return err
	}
	until := pgtype.Date{Time: c.Terms.RestrictedUntil, Valid: c.Terms.Type == seqlease.TermsRestricted}
	_, err = tx.Exec(ctx, changeTermsSQL, pgx.StrictNamedArgs{
		"accessions": texts(c.Accessions), "restricted": until.Valid, "until": until, "user": c.By,
	})
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(organisms))
	for _, id := range ids {
		note := seqlease.AuditNote{User: c.By, Action: seqlease.ActionDataUseTerms, Entries: organisms[id], Detail: c.Terms.String()}
		if err := noteAction(ctx, tx, id, note); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, bumpReleasedSQL, pgx.StrictNamedArgs{"organisms": ids})
	return err
}

// lockAccessions locks every version of the accessions and returns how many of
// these each organism has.
func lockAccessions(ctx context.Context, tx pgx.Tx, accessions []seqlease.Accession) (map[int32]int64, error) {
	rows, err := tx.Query(ctx, lockAccessionsSQL, pgx.StrictNamedArgs{"accessions": texts(accessions)})
	if err != nil {
		return nil, err
	}
	found, organisms := make(map[seqlease.Accession]bool, len(accessions)), map[int32]int64{}
	var accession seqlease.Accession
	var organism int32
	_, err = pgx.ForEachRow(rows, []any{&accession, &organism}, func() error {
		if !found[accession] {
			organisms[organism]++
		}
		found[accession] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(accessions), func(a seqlease.Accession) bool { return found[a] })
	if len(missing) > 0 {
		return nil, &submission.StateError{Unknown: missing}
	}
	return organisms, nil
}

func newestTerms(ctx context.Context, tx pgx.Tx, accessions []seqlease.Accession) (map[seqlease.Accession]seqlease.DataUseTerms, error) {
	rows, err := tx.Query(ctx, newestTermsSQL, pgx.StrictNamedArgs{"accessions": texts(accessions)})
	if err != nil {
		return nil, err
	}
	stored := make(map[seqlease.Accession]seqlease.DataUseTerms, len(accessions))
	var accession seqlease.Accession
	var t storedTerms
	_, err = pgx.ForEachRow(rows, []any{&accession, &t.restricted, &t.until}, func() error {
		stored[accession] = t.terms()
		return nil
	})
	return stored, err
}

// TermsHistory returns changes of an accession's terms, oldest first.
func (s *Store) TermsHistory(ctx context.Context, accession seqlease.Accession, after int64, limit int) ([]submission.TermsRecord, error) {
	var history []submission.TermsRecord
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			history = nil
			arguments := pgx.StrictNamedArgs{"accession": string(accession), "after": after, "count": limit}
			return withSettings(ctx, c, planSettingsSQL, termsHistorySQL, arguments, func(rows pgx.Rows) error {
				var r submission.TermsRecord
				var t storedTerms
				_, err := pgx.ForEachRow(rows, []any{&r.Number, &r.ChangedAt, &t.restricted, &t.until, &r.By}, func() error {
					r.ChangedAt, r.Terms = r.ChangedAt.UTC(), t.terms()
					history = append(history, r)
					return nil
				})
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("data use terms of %s: %w", accession, err)
	}
	return history, nil
}
