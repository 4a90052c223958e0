package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// ReadSubmitted reads what was submitted from one snapshot and as of one instant:
// begin once, then yield for each entry version that the filter takes, by accession
// and version. An error of either ends the call and is returned.
func (s *Store) ReadSubmitted(ctx context.Context, f submission.SubmittedFilter,
	begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error,
) error {
	err := s.readLong(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, f.Organism)
		if err != nil {
			return err
		}
		args := named("organism_id", o.id, "now", o.now, "group_ids", orNull(f.GroupIDs, jsonIDs),
			"entries", orNull(f.Entries, jsonEntryNames), "statuses", orNull(f.Statuses, jsonTexts))
		return readSubmitted(ctx, t, "submitted", o, args, begin, yield)
	})
	if err != nil {
		return fmt.Errorf("read what was submitted to %s: %w", f.Organism, err)
	}
	return nil
}

// ReadRevisable does the same for the entries of a group whose highest version is
// released and no revocation. An upload under way has no versions yet.
func (s *Store) ReadRevisable(ctx context.Context, f submission.RevisableFilter,
	begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error,
) error {
	err := s.readLong(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, f.Organism)
		if err != nil {
			return err
		}
		args := named("organism_id", o.id, "group_id", f.GroupID, "accessions", orNull(f.Accessions, jsonTexts))
		return readSubmitted(ctx, t, "revisable", o, args, begin, yield)
	})
	if err != nil {
		return fmt.Errorf("read what can be revised of %s: %w", f.Organism, err)
	}
	return nil
}

// readSubmitted runs the two statements about what, which take the same arguments.
func readSubmitted(ctx context.Context, t *tx, what string, o organismRow, args []any,
	begin func(submission.SubmittedHead) error, yield func(submission.SubmittedEntry) error,
) error {
	head := submission.SubmittedHead{Now: instant(o.now)}
	if err := t.row(ctx, "count_"+what, args, &head.Count); err != nil {
		return err
	}
	if err := begin(head); err != nil {
		return err
	}
	return t.rows(ctx, "read_"+what, args, func(scan func(...any) error) error {
		var e submission.SubmittedEntry
		err := scan(&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.IsRevocation,
			&e.Data.Dictionary, (*sql.RawBytes)(&e.Data.Bytes))
		if err != nil {
			return err
		}
		return yield(e)
	})
}

// jsonEntryNames writes ["ACC.1",…].
func jsonEntryNames(entries []seqlease.AccessionVersion) string {
	return jsonList(entries, func(b []byte, av seqlease.AccessionVersion) []byte { return appendText(b, av.String()) })
}
