package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// List calls yield for each entry version that the filter takes, by accession
// and version, and returns the counts, all from one snapshot and at one instant.
// An error of yield ends the call and is returned.
func (s *Store) List(ctx context.Context, f submission.ListFilter, yield func(submission.ListedEntry) error) (submission.Counts, error) {
	var counts submission.Counts
	err := s.readLong(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, f.Organism)
		if err != nil {
			return err
		}
		groups := orNull(f.GroupIDs, jsonIDs)
		if counts, err = countEntries(ctx, t, named("organism_id", o.id, "now", o.now, "group_ids", groups)); err != nil {
			return err
		}
		limit := int64(f.Limit)
		if limit == 0 {
			limit = -1 // none
		}
		args := named("organism_id", o.id, "now", o.now, "group_ids", groups, "statuses", orNull(f.Statuses, jsonTexts),
			"results", orNull(f.Results, jsonTexts), "limit", limit, "offset", int64(f.Offset))
		return t.rows(ctx, "list", args, func(scan func(...any) error) error {
			e, err := scanListed(scan)
			if err != nil {
				return err
			}
			return yield(e)
		})
	})
	if err != nil {
		return submission.Counts{}, fmt.Errorf("list entries of %s: %w", f.Organism, err)
	}
	return counts, nil
}

// countEntries counts by status, and processed entries by result.
func countEntries(ctx context.Context, t *tx, args []any) (submission.Counts, error) {
	var inProcessing, fine, warned, failed, released, all int64
	if err := t.row(ctx, "list_counts", args, &inProcessing, &fine, &warned, &failed, &released, &all); err != nil {
		return submission.Counts{}, err
	}
	processed := fine + warned + failed
	return submission.Counts{
		Statuses: map[seqlease.Status]int64{
			seqlease.Received: all - inProcessing - processed - released, seqlease.InProcessing: inProcessing,
			seqlease.Processed: processed, seqlease.ApprovedForRelease: released,
		},
		Results: map[seqlease.ProcessingResult]int64{
			seqlease.NoIssues: fine, seqlease.HasWarnings: warned, seqlease.HasErrors: failed,
		},
	}, nil
}

func scanListed(scan func(...any) error) (submission.ListedEntry, error) {
	var e submission.ListedEntry
	var kind seqlease.TermsType
	var until string
	err := scan(&e.Accession, &e.Version, &e.Status, &e.Result, &e.GroupID, &e.Submitter, &e.IsRevocation, &e.SubmissionID,
		&kind, &until)
	if err != nil {
		return e, err
	}
	e.Terms, err = termsOf(kind, until)
	return e, err
}
