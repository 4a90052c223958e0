package queue

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// operatorPage is how many entries an operator's call looks at in one transaction.
const operatorPage = 1000

// MaxErrorText is the longest text to look for in errors, in characters.
const MaxErrorText = 1000

// check refuses a selection that is too large, or that has no condition though
// not all is meant. A pipeline version narrows a selection, but isn't a condition.
func (q *Queue) checkSelection(s Selection) error {
	if _, err := q.organisms.Get(s.Organism); err != nil {
		return err
	}
	dates := !s.SubmittedFrom.IsZero() || !s.SubmittedTo.IsZero()
	switch {
	case len(s.Entries) > MaxEntries:
		return tooManyEntries(len(s.Entries))
	case s.PipelineVersion < 0:
		return seqlease.InvalidParameter("pipelineVersion", fmt.Sprintf("pipelineVersion must be at least 1, not %d", s.PipelineVersion))
	case utf8.RuneCountInString(s.ErrorContains) > MaxErrorText:
		return seqlease.InvalidParameter("errorContains", fmt.Sprintf("errorContains may have at most %d characters", MaxErrorText))
	case !seqlease.IsStorable(s.ErrorContains):
		return seqlease.InvalidParameter("errorContains", "errorContains may not have NUL characters or broken UTF-8 in it")
	case s.Entries == nil && s.ErrorContains == "" && s.WorkerID == "" && !dates && !s.All:
		return seqlease.InvalidParameter("all", "the selection has no condition: give accessionVersions, errorContains, workerId or dates, "+
			"or all: true if every entry is meant")
	case !s.SubmittedFrom.IsZero() && !s.SubmittedTo.IsZero() && !s.SubmittedFrom.Before(s.SubmittedTo):
		return seqlease.InvalidParameter("submittedTo", "submittedTo must be after submittedFrom")
	}
	return checkWorkerID(s.WorkerID)
}

// storePage is an operation on the entries of a selection behind the store id after.
type storePage func(ctx context.Context, s Selection, after int64) (n int, last int64, err error)

// everyPage goes over a selection page by page, so that each transaction is short,
// and returns how many entries were changed, also with an error. A list of entries
// is taken in parts.
func everyPage(ctx context.Context, s Selection, page storePage) (int, error) {
	if s.Entries == nil {
		return everyPageOf(ctx, s, page)
	}
	total := 0
	for part := range slices.Chunk(s.Entries, operatorPage) {
		s.Entries = part
		n, err := everyPageOf(ctx, s, page)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func everyPageOf(ctx context.Context, s Selection, page storePage) (int, error) {
	total := 0
	for after := int64(0); ; {
		n, last, err := page(ctx, s, after)
		total += n
		switch {
		case err != nil:
			return total, err
		case last == 0:
			return total, nil
		case last <= after:
			return total, fmt.Errorf("the page behind entry %d ended at entry %d", after, last)
		}
		after = last
	}
}

// operated says in the log what an operator did, once for each call. A call that
// failed on the way did what it did.
func (q *Queue) operated(ctx context.Context, what string, o seqlease.Organism, by, reason string, rows int, err error) {
	attributes := []slog.Attr{
		slog.String("action", what), slog.String("organism", string(o)), slog.String("by", by),
		slog.String("reason", reason), slog.Int("rows", rows),
	}
	if err != nil {
		attributes = append(attributes, slog.Any("error", err))
	}
	q.logger.LogAttrs(ctx, slog.LevelInfo, "operator acted", attributes...)
}
