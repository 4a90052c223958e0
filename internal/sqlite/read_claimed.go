package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// errFull ends the reading of a page that has enough bytes.
var errFull = errors.New("the page is full")

// ReadClaimed returns a page of a claim's entries by their places as claimed, as
// [queue.Store] says.
func (s *Store) ReadClaimed(ctx context.Context, id seqlease.AttemptID, skip, limit int) ([]queue.ClaimedEntry, error) {
	var page []queue.ClaimedEntry
	var bytes int
	args := named("attempt_id", id[:], "skip", int64(skip), "limit", int64(limit))
	err := s.readClaimed(ctx, "read_claimed", args, func(e queue.ClaimedEntry) error {
		if bytes += len(e.Packed.Bytes); bytes > queue.PayloadBytes && len(page) > 0 {
			return errFull
		}
		page = append(page, e)
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, fmt.Errorf("read the entries of attempt %s: %w", id, err)
	}
	return page, nil
}

// readLease reads what a claim has just moved: a page with documents, if the
// claim is small enough to carry any, and then the others without.
func (s *Store) readLease(ctx context.Context, id seqlease.AttemptID, entries int) ([]queue.ClaimedEntry, error) {
	var list []queue.ClaimedEntry
	var err error
	next := 0
	if entries <= queue.PayloadLimit {
		if list, err = s.ReadClaimed(ctx, id, 0, queue.PayloadLimit); err != nil {
			return nil, err
		}
		if n := len(list); n > 0 {
			next = list[n-1].Place + 1
		}
	}
	if next == entries {
		return list, nil
	}
	err = s.readClaimed(ctx, "read_claimed_keys", named("attempt_id", id[:], "skip", int64(next)), func(e queue.ClaimedEntry) error {
		list = append(list, e)
		return nil
	})
	return list, err
}

func (s *Store) readClaimed(ctx context.Context, statement string, args []any, each func(queue.ClaimedEntry) error) error {
	// Of these types, and kept from row to row, they are read without reflection and
	// allocate nothing.
	var place, version, groupID, submittedAt, attempt, dictionary int64
	var accession, submissionID, submitter string
	var body []byte
	into := []any{&place, &accession, &version, &submissionID, &submitter, &groupID, &submittedAt, &attempt, &dictionary, &body}
	err := s.readOnce().rows(ctx, statement, args, func(scan func(...any) error) error {
		if err := scan(into...); err != nil {
			return err
		}
		return each(queue.ClaimedEntry{
			AccessionVersion: seqlease.AccessionVersion{Accession: seqlease.Accession(accession), Version: seqlease.Version(version)},
			Place:            int(place), Packed: seqlease.Packed{Dictionary: dictionary, Bytes: body},
			SubmissionID: submissionID, Submitter: submitter, GroupID: groupID, SubmittedAt: instant(submittedAt), Attempt: int(attempt),
		})
	})
	return storeError(err)
}
