package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// Reprocess makes selected entries that have a result of the selected version (0:
// the current one) wait again, after what people just submitted, and returns how
// many (V9, L16). The old result stays visible until the next one is accepted.
// ErrorContains looks for a part of an error message in the results.
func (q *Queue) Reprocess(ctx context.Context, s Selection, by, reason string) (int, error) {
	if err := q.checkSelection(s); err != nil {
		return 0, err
	}
	s.Note = noteOf(by, s.target(), reason)
	var n int
	var err error
	if s.ErrorContains == "" {
		n, err = everyPage(ctx, s, q.reprocessPage)
	} else {
		n, err = q.reprocessFailed(ctx, s)
	}
	q.operated(ctx, "reprocess", s.Organism, by, CleanReason(reason), n, err)
	if err != nil {
		return n, fmt.Errorf("reprocess %s: %w", s.Organism, err)
	}
	return n, nil
}

func (q *Queue) reprocessPage(ctx context.Context, s Selection, after int64) (int, int64, error) {
	return q.store.Reprocess(ctx, s, after, operatorPage)
}

// reprocessFailed looks for the text in every result with errors: they are
// compressed, so that no store can do that. Pages are small, as documents may be large.
func (q *Queue) reprocessFailed(ctx context.Context, s Selection) (int, error) {
	wanted := map[seqlease.AccessionVersion]bool{}
	for _, av := range s.Entries {
		wanted[av] = true
	}
	found := s
	found.ErrorContains = ""
	total := 0
	for after := int64(0); ; {
		page, err := q.store.FailedResults(ctx, s.Organism, s.PipelineVersion, after, failedPage)
		if err != nil || len(page) == 0 {
			return total, err
		}
		found.Entries = []seqlease.AccessionVersion{}
		for _, r := range page {
			after = r.EntryID
			if s.Entries != nil && !wanted[r.AccessionVersion] {
				continue
			}
			says, err := q.errorsSay(ctx, r, s.ErrorContains)
			if err != nil {
				return total, err
			}
			if says {
				found.Entries = append(found.Entries, r.AccessionVersion)
			}
		}
		n, err := everyPage(ctx, found, q.reprocessPage)
		total += n
		if err != nil {
			return total, err
		}
	}
}

// failedPage is how many results are searched at a time.
const failedPage = 100

// errorsSay looks for a text in the error messages of a result. What can't be read
// says nothing.
func (q *Queue) errorsSay(ctx context.Context, r FailedResult, text string) (bool, error) {
	document, err := q.store.Unpack(ctx, r.Document)
	var result struct {
		Errors []seqlease.Annotation `json:"errors"`
	}
	if err == nil {
		if broken := json.Unmarshal(document, &result); broken != nil {
			err = errors.Join(ErrDamaged, broken)
		}
	}
	switch {
	case errors.Is(err, ErrDamaged):
		q.logger.LogAttrs(ctx, slog.LevelWarn, "damaged result left out of a search", slog.String("accession_version", r.String()), slog.Any("error", err))
		return false, nil
	case err != nil:
		return false, fmt.Errorf("result of %s: %w", r.AccessionVersion, err)
	}
	for _, e := range result.Errors {
		if strings.Contains(e.Message, text) {
			return true, nil
		}
	}
	return false, nil
}
