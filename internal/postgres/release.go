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

//go:embed sql/released_mark.sql
var releasedMarkSQL string

//go:embed sql/released_head.sql
var releasedHeadSQL string

//go:embed sql/read_released.sql
var readReleasedSQL string

// ReleasedMark returns the state of what is released of the organism.
func (s *Store) ReleasedMark(ctx context.Context, organism seqlease.Organism) (string, error) {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return "", err
	}
	var mark string
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, releasedMarkSQL, pgx.StrictNamedArgs{"organism": o.id}).Scan(&mark)
		})
	})
	if err != nil {
		return "", fmt.Errorf("mark of what is released of %s: %w", organism, err)
	}
	return mark, nil
}

// ReadReleased yields what is released from one snapshot, as [submission.Store]
// says. Rows are decompressed one by one as they come.
func (s *Store) ReadReleased(ctx context.Context, organism seqlease.Organism, begin func(submission.ReleasedHead) error, yield func(submission.ReleasedEntry) error) error {
	o, err := s.organism(ctx, organism)
	if err != nil {
		return err
	}
	err = s.longTransaction(ctx, s.shares.exports, readOnly, func(tx pgx.Tx) error {
		var head submission.ReleasedHead
		if err := tx.QueryRow(ctx, releasedHeadSQL, planned, pgx.StrictNamedArgs{"organism": o.id}).Scan(&head.Count, &head.Mark, &head.Now); err != nil {
			return err
		}
		// Now, since the rows keep the connection busy until the last of them.
		if err := s.learn(ctx, tx, o.id); err != nil {
			return err
		}
		head.Now = head.Now.UTC()
		if err := begin(head); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, readReleasedSQL, planned, pgx.StrictNamedArgs{"organism": o.id})
		if err != nil {
			return err
		}
		return s.eachReleased(rows, yield)
	})
	if err != nil {
		return fmt.Errorf("read what is released of %s: %w", organism, err)
	}
	return nil
}

func (s *Store) eachReleased(rows pgx.Rows, yield func(submission.ReleasedEntry) error) error {
	var e submission.ReleasedEntry
	var t storedTerms
	var dictionary int64
	var packed []byte
	var updaters, documents []string
	_, err := pgx.ForEachRow(rows, []any{
		&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.GroupID, &e.GroupName, &e.IsRevocation, &e.SubmittedAt, &e.ReleasedAt,
		&e.PipelineVersion, &t.restricted, &t.until, &e.TermsChangedAt, &dictionary, &packed,
		&updaters, &documents,
	}, func() error {
		e.SubmittedAt, e.ReleasedAt, e.TermsChangedAt = e.SubmittedAt.UTC(), e.ReleasedAt.UTC(), e.TermsChangedAt.UTC()
		e.Terms, e.Result, e.Submitted, e.External = t.terms(), nil, nil, nil
		for i, updater := range updaters {
			e.External = append(e.External, submission.ExternalDocument{Updater: updater, Body: []byte(documents[i])})
		}
		if packed != nil {
			document, err := s.unpack(dictionary, packed)
			if err != nil {
				return fmt.Errorf("%s: %w", e.AccessionVersion, err)
			}
			if e.IsRevocation {
				e.Submitted = document
			} else {
				e.Result = document
			}
		}
		return yield(e)
	})
	return err
}
