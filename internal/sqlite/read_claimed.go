package sqlite

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/queue"
)

// ReadClaimed returns the entries of a claim in claim order, at most limit of
// them after the first skip, and leaves out what the attempt no longer holds at
// the claimed revision.
func (s *Store) ReadClaimed(ctx context.Context, id seqlease.AttemptID, skip, limit int) ([]queue.ClaimedEntry, error) {
	entries, err := s.readClaimed(ctx, "read_claimed", named("attempt_id", id[:], "skip", int64(skip), "limit", int64(limit)))
	if err != nil {
		return nil, fmt.Errorf("read the entries of attempt %s: %w", id, err)
	}
	return entries, nil
}

// readLease reads what a claim has just moved; large claims come without data.
func (s *Store) readLease(ctx context.Context, id seqlease.AttemptID, entries int64) ([]queue.ClaimedEntry, error) {
	if entries > queue.PayloadLimit {
		return s.readClaimed(ctx, "read_claimed_keys", named("attempt_id", id[:]))
	}
	return s.ReadClaimed(ctx, id, 0, queue.PayloadLimit)
}

func (s *Store) readClaimed(ctx context.Context, statement string, args []any) ([]queue.ClaimedEntry, error) {
	var entries []queue.ClaimedEntry
	var packed []seqlease.Packed
	err := s.readOnce().rows(ctx, statement, args, func(scan func(...any) error) error {
		var e queue.ClaimedEntry
		var p seqlease.Packed
		var submittedAt int64
		err := scan(&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.GroupID, &submittedAt, &e.Attempt,
			&p.Dictionary, &p.Bytes)
		e.SubmittedAt = instant(submittedAt)
		entries, packed = append(entries, e), append(packed, p)
		return err
	})
	if err != nil {
		return nil, storeError(err)
	}
	for i, p := range packed {
		if p.Bytes == nil {
			continue
		}
		if entries[i].Data, err = s.unpack(p); err != nil {
			return nil, fmt.Errorf("submitted data of %s: %w", entries[i].AccessionVersion, err)
		}
	}
	return entries, nil
}
