package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/count_submitted.sql
var countSubmittedSQL string

//go:embed sql/read_submitted.sql
var readSubmittedSQL string

//go:embed sql/count_revisable.sql
var countRevisableSQL string

//go:embed sql/read_revisable.sql
var readRevisableSQL string

// ReadSubmitted yields what was submitted from one snapshot, as
// [submission.SubmittedStore] says.
func (s *Store) ReadSubmitted(ctx context.Context, f submission.SubmittedFilter, begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
	o, err := s.organism(ctx, f.Organism)
	if err != nil {
		return err
	}
	arguments := pgx.StrictNamedArgs{
		"organism": o.id, "groups": f.GroupIDs, "statuses": numbers(f.Statuses, seqlease.Statuses()),
		"accessions": []string(nil), "versions": []int64(nil),
	}
	if f.Entries != nil {
		arguments["accessions"], arguments["versions"] = columns(f.Entries)
	}
	if err := s.readSubmitted(ctx, o.id, countSubmittedSQL, readSubmittedSQL, arguments, begin, yield); err != nil {
		return fmt.Errorf("read what was submitted to %s: %w", f.Organism, err)
	}
	return nil
}

// ReadRevisable yields what was submitted with the entries that can be revised, as
// [submission.SubmittedStore] says.
func (s *Store) ReadRevisable(ctx context.Context, f submission.RevisableFilter, begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error) error {
	o, err := s.organism(ctx, f.Organism)
	if err != nil {
		return err
	}
	var accessions []string // NULL: all
	if f.Accessions != nil {
		accessions = texts(f.Accessions)
	}
	arguments := pgx.StrictNamedArgs{"organism": o.id, "group": f.GroupID, "accessions": accessions}
	if err := s.readSubmitted(ctx, o.id, countRevisableSQL, readRevisableSQL, arguments, begin, yield); err != nil {
		return fmt.Errorf("read what can be revised of %s: %w", f.Organism, err)
	}
	return nil
}

// readSubmitted runs the two statements, which take the same arguments.
func (s *Store) readSubmitted(ctx context.Context, organismID int32, count, read string, arguments pgx.StrictNamedArgs,
	begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error,
) error {
	return s.longTransaction(ctx, s.shares.lists, readOnly, func(tx pgx.Tx) error {
		var head submission.SubmittedHead
		if err := tx.QueryRow(ctx, count, planned, arguments).Scan(&head.Count, &head.Now); err != nil {
			return err
		}
		head.Now = head.Now.UTC()
		// Now, since the rows keep the connection busy until the last of them.
		if err := s.learn(ctx, tx, organismID); err != nil {
			return err
		}
		if err := begin(head); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, read, planned, arguments)
		if err != nil {
			return err
		}
		var e submission.SubmittedEntry
		_, err = pgx.ForEachRow(rows, []any{
			&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.IsRevocation, &e.Data.Dictionary, (*pgtype.DriverBytes)(&e.Data.Bytes),
		}, func() error { return yield(e) })
		return err
	})
}

func texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
