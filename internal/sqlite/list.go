package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// List calls yield for each entry version that the filter takes, by accession
// and version, and returns the counts, all from one snapshot and at one instant.
// An error of yield ends the call and is returned.
func (s *Store) List(ctx context.Context, f submission.ListFilter, yield func(submission.ListedEntry) error) (submission.Counts, error) {
	var counts listCounts
	err := s.readLong(ctx, func(t *tx) error {
		o, err := organismState(ctx, t, f.Organism)
		if err != nil {
			return err
		}
		args := named("organism_id", o.id, "pipeline_version", int64(o.current), "now", o.now, "group_ids", orNull(f.GroupIDs, jsonIDs))
		if counts, err = countEntries(ctx, t, args); err != nil {
			return err
		}
		return listEntries(ctx, t, f, counts, args, yield)
	})
	if err != nil {
		return submission.Counts{}, fmt.Errorf("list entries of %s: %w", f.Organism, err)
	}
	return counts.seen(), nil
}

// A listState is what lists are filtered by: the status, or of processed entries
// the result.
type listState string

// statesOf returns the states that the filter takes; nil: all.
func statesOf(f submission.ListFilter) []listState {
	if f.Statuses == nil && f.Results == nil {
		return nil
	}
	states := []listState{}
	for _, status := range seqlease.Statuses() {
		switch {
		case f.Statuses != nil && !slices.Contains(f.Statuses, status):
		case status != seqlease.Processed:
			states = append(states, listState(status))
		default:
			for _, result := range seqlease.ProcessingResults() {
				if f.Results == nil || slices.Contains(f.Results, result) {
					states = append(states, listState(result))
				}
			}
		}
	}
	return states
}

// listCounts are numbers of entries by state.
type listCounts map[listState]int64

// of sums up states; nil: all.
func (c listCounts) of(states []listState) int64 {
	var sum int64
	for state, n := range c {
		if states == nil || slices.Contains(states, state) {
			sum += n
		}
	}
	return sum
}

// seen are the counts by status, and of processed entries by result.
func (c listCounts) seen() submission.Counts {
	counts := submission.Counts{Statuses: map[seqlease.Status]int64{}, Results: map[seqlease.ProcessingResult]int64{}}
	for _, result := range seqlease.ProcessingResults() {
		counts.Results[result] = c[listState(result)]
		counts.Statuses[seqlease.Processed] += c[listState(result)]
	}
	for _, status := range []seqlease.Status{seqlease.Received, seqlease.InProcessing, seqlease.ApprovedForRelease} {
		counts.Statuses[status] = c[listState(status)]
	}
	return counts
}

func countEntries(ctx context.Context, t *tx, args []any) (listCounts, error) {
	var fine, warned, failed, unreleased, held, all int64
	if err := t.row(ctx, "list_counts", args, &fine, &warned, &failed, &unreleased, &held, &all); err != nil {
		return nil, err
	}
	return listCounts{
		listState(seqlease.Received): unreleased - held - fine - warned - failed, listState(seqlease.InProcessing): held,
		listState(seqlease.NoIssues): fine, listState(seqlease.HasWarnings): warned, listState(seqlease.HasErrors): failed,
		listState(seqlease.ApprovedForRelease): all - unreleased,
	}, nil
}

// sortingShare is how many times more entries must be released than aren't for
// reading and sorting these to be less work than passing those.
const sortingShare = 4

// listEntries yields the page. As the counts are of the same snapshot, they say where
// the last entry is, so that nothing is read behind it.
func listEntries(ctx context.Context, t *tx, f submission.ListFilter, counts listCounts, args []any, yield func(submission.ListedEntry) error) error {
	states := statesOf(f)
	limit := counts.of(states) - int64(f.Offset)
	if f.Limit > 0 {
		limit = min(limit, int64(f.Limit))
	}
	if limit <= 0 {
		return nil
	}
	released := counts[listState(seqlease.ApprovedForRelease)]
	statement := "list"
	if states != nil && !slices.Contains(states, listState(seqlease.ApprovedForRelease)) && released > sortingShare*(counts.of(nil)-released) {
		statement = "list_unreleased"
	}
	args = append(args, named("states", orNull(states, jsonTexts), "limit", limit, "offset", int64(f.Offset))...)
	return t.rows(ctx, statement, args, func(scan func(...any) error) error {
		e, err := scanListed(scan)
		if err != nil {
			return err
		}
		return yield(e)
	})
}

func scanListed(scan func(...any) error) (submission.ListedEntry, error) {
	var e submission.ListedEntry
	var released, held bool
	var outcome sql.NullString
	var terms string
	err := scan(&e.Accession, &e.Version, &released, &e.IsRevocation, &outcome, &held, &e.GroupID, &e.Submitter, &e.SubmissionID, &terms)
	if err != nil {
		return e, err
	}
	e.Status = statusOf(released, e.IsRevocation || outcome.Valid, held)
	e.Result = seqlease.ProcessingResult(outcome.String)
	if !outcome.Valid && !held {
		e.Result = seqlease.NoIssues
	}
	kind, until, _ := strings.Cut(terms, " ")
	e.Terms, err = termsOf(seqlease.TermsType(kind), until)
	return e, err
}
