package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// ChangeTerms adds terms to the history of accessions, as [submission.TermsStore]
// says.
func (s *Store) ChangeTerms(ctx context.Context, c submission.TermsChange) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error { return changeTerms(ctx, t, c) })
	if err != nil {
		return fmt.Errorf("change the data use terms of %d accessions: %w", len(c.Accessions), err)
	}
	return nil
}

func changeTerms(ctx context.Context, t *tx, c submission.TermsChange) error {
	list := named("accessions", jsonTexts(c.Accessions))
	stored := make(map[seqlease.Accession]seqlease.DataUseTerms, len(c.Accessions))
	organisms := map[int64]int64{} // how many of the accessions each has
	err := t.rows(ctx, "terms_of", list, func(scan func(...any) error) error {
		var accession seqlease.Accession
		var organism int64
		var kind seqlease.TermsType
		var until string
		if err := scan(&accession, &organism, &kind, &until); err != nil {
			return err
		}
		organisms[organism]++
		var err error
		stored[accession], err = termsOf(kind, until)
		return err
	})
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(c.Accessions), func(a seqlease.Accession) bool {
		_, found := stored[a]
		return found
	})
	if len(missing) > 0 {
		return &submission.StateError{Unknown: missing}
	}
	if err := submission.RefuseTerms(c.Terms, stored); err != nil {
		return err
	}
	terms := named("user", c.By, "terms", string(c.Terms.Type), "restricted_until", day(c.Terms))
	if _, err := t.exec(ctx, "change_terms", append(terms, list...)...); err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(organisms))
	for _, id := range ids {
		note := seqlease.AuditNote{User: c.By, Action: seqlease.ActionDataUseTerms, Entries: organisms[id], Detail: c.Terms.String()}
		if err := noteAction(ctx, t, id, note); err != nil {
			return err
		}
	}
	return bumpReleased(ctx, t, ids)
}

// TermsHistory returns changes of an accession's terms, oldest first.
func (s *Store) TermsHistory(ctx context.Context, accession seqlease.Accession, after int64, limit int) ([]submission.TermsRecord, error) {
	var history []submission.TermsRecord
	args := named("accession", string(accession), "after", after, "limit", int64(limit))
	err := s.readOnce().rows(ctx, "terms_history", args, func(scan func(...any) error) error {
		var r submission.TermsRecord
		var at int64
		var kind seqlease.TermsType
		var until string
		if err := scan(&r.Number, &at, &r.By, &kind, &until); err != nil {
			return err
		}
		r.ChangedAt = instant(at)
		var err error
		r.Terms, err = termsOf(kind, until)
		history = append(history, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("data use terms of %s: %w", accession, storeError(err))
	}
	return history, nil
}
