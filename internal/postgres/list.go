package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/list_entries.sql
var listEntriesSQL string

//go:embed sql/count_entries.sql
var countEntriesSQL string

//go:embed sql/groups_of_entries.sql
var groupsOfEntriesSQL string

// List yields entries and counts them from one snapshot, as [submission.Store]
// says. Tickets are not read: what has neither lease nor result is received.
func (s *Store) List(ctx context.Context, f submission.ListFilter, yield func(submission.ListedEntry) error) (submission.Counts, error) {
	o, err := s.organism(ctx, f.Organism)
	if err != nil {
		return submission.Counts{}, err
	}
	counts := submission.Counts{Statuses: map[seqlease.Status]int64{}, Results: map[seqlease.ProcessingResult]int64{}}
	err = s.longTransaction(ctx, s.shares.lists, readOnly, func(tx pgx.Tx) error {
		if err := count(ctx, tx, o.id, f, &counts); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, listEntriesSQL, planned, pgx.StrictNamedArgs{
			"organism": o.id, "groups": f.GroupIDs, "statuses": numbers(f.Statuses, seqlease.Statuses()),
			"outcomes": numbers(f.Results, seqlease.ProcessingResults()), "skip": f.Offset, "count": f.Limit,
			"released": onlyReleased(f.Statuses), "unreleased": f.Statuses != nil && !slices.Contains(f.Statuses, seqlease.ApprovedForRelease),
		})
		if err != nil {
			return err
		}
		return eachListed(rows, yield)
	})
	if err != nil {
		return submission.Counts{}, fmt.Errorf("list entries of %s: %w", f.Organism, err)
	}
	return counts, nil
}

// onlyReleased says whether the filter takes no other status.
func onlyReleased(filter []seqlease.Status) bool {
	other := func(s seqlease.Status) bool { return s != seqlease.ApprovedForRelease }
	return len(filter) > 0 && !slices.ContainsFunc(filter, other)
}

func count(ctx context.Context, tx pgx.Tx, organismID int32, f submission.ListFilter, counts *submission.Counts) error {
	for _, status := range seqlease.Statuses() {
		counts.Statuses[status] = 0
	}
	for _, result := range seqlease.ProcessingResults() {
		counts.Results[result] = 0
	}
	rows, err := tx.Query(ctx, countEntriesSQL, planned, pgx.StrictNamedArgs{"organism": organismID, "groups": f.GroupIDs})
	if err != nil {
		return err
	}
	var status, outcome int
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&status, &outcome, &n}, func() error {
		counts.Statuses[seqlease.Statuses()[status]] += n
		if seqlease.Statuses()[status] == seqlease.Processed {
			counts.Results[seqlease.ProcessingResults()[outcome]] += n
		}
		return nil
	})
	return err
}

func eachListed(rows pgx.Rows, yield func(submission.ListedEntry) error) error {
	var e submission.ListedEntry
	var status int
	var outcome *int
	var t storedTerms
	_, err := pgx.ForEachRow(rows, []any{
		&e.Accession, &e.Version, &status, &outcome, &e.GroupID, &e.Submitter, &e.IsRevocation, &e.SubmissionID, &t.restricted, &t.until,
	}, func() error {
		e.Status, e.Result, e.Terms = seqlease.Statuses()[status], "", t.terms()
		if outcome != nil {
			e.Result = seqlease.ProcessingResults()[*outcome]
		}
		return yield(e)
	})
	return err
}

// storedTerms are data use terms as stored.
type storedTerms struct {
	restricted bool
	until      pgtype.Date
}

func (t storedTerms) terms() seqlease.DataUseTerms {
	if !t.restricted {
		return seqlease.DataUseTerms{Type: seqlease.TermsOpen}
	}
	return seqlease.DataUseTerms{Type: seqlease.TermsRestricted, RestrictedUntil: t.until.Time}
}

// numbers are the places of the words in the whole list; nil stays nil.
func numbers[T comparable](words, list []T) []int32 {
	if words == nil {
		return nil
	}
	found := make([]int32, len(words))
	for i, w := range words {
		found[i] = int32(slices.Index(list, w))
	}
	return found
}

// GroupsOfEntries returns the groups of the entries that exist.
func (s *Store) GroupsOfEntries(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]int64, error) {
	accessions, versions := columns(entries)
	groups := make(map[seqlease.AccessionVersion]int64, len(entries))
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			arguments := pgx.StrictNamedArgs{"accessions": accessions, "versions": versions}
			return withSettings(ctx, c, planSettingsSQL, groupsOfEntriesSQL, arguments, func(rows pgx.Rows) error {
				var av seqlease.AccessionVersion
				var group int64
				_, err := pgx.ForEachRow(rows, []any{&av.Accession, &av.Version, &group}, func() error {
					groups[av] = group
					return nil
				})
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("groups of %d entries: %w", len(entries), err)
	}
	return groups, nil
}
