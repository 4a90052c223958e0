package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/seqlease/seqlease"
)

// Entry is an entry of a claimed batch with its document.
type Entry struct {
	ClaimedEntry
	Data []byte // JSON document of a [seqlease.SubmittedData]
}

// Entries yields the entries of a claim in claim order. What came without its
// document is read in pages, and of that what the attempt no longer holds is left
// out. No transaction is open while the caller handles an entry, and one document
// at a time is decompressed (L12). An error ends the sequence.
//
// An entry whose document is damaged is told to damaged and left out, so that its
// neighbours are served. The caller gives it back ([Queue.Damaged]).
func (q *Queue) Entries(ctx context.Context, lease Lease, damaged func(seqlease.AccessionVersion, error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		next := 0 // the first place that wasn't read yet
		for _, e := range lease.Entries {
			switch {
			case e.Place < next:
				continue
			case e.Packed.Bytes != nil:
				next = e.Place + 1
				if !q.yieldEntry(ctx, e, damaged, yield) {
					return
				}
				continue
			}
			page, err := q.store.ReadClaimed(ctx, lease.AttemptID, e.Place, PayloadLimit)
			if err != nil {
				yield(Entry{}, fmt.Errorf("read claim %s: %w", lease.AttemptID, err))
				return
			}
			next = e.Place + PayloadLimit // if nothing of it is held any more
			for _, e := range page {
				next = e.Place + 1
				if !q.yieldEntry(ctx, e, damaged, yield) {
					return
				}
			}
		}
	}
}

// yieldEntry decompresses and yields one entry, and says whether to go on.
func (q *Queue) yieldEntry(ctx context.Context, e ClaimedEntry, damaged func(seqlease.AccessionVersion, error), yield func(Entry, error) bool) bool {
	data, err := q.store.Unpack(ctx, e.Packed)
	switch {
	case errors.Is(err, ErrDamaged):
		damaged(e.AccessionVersion, err)
		return true
	case err != nil:
		yield(Entry{}, fmt.Errorf("data of %s: %w", e.AccessionVersion, err))
		return false
	default:
		return yield(Entry{e, data}, nil)
	}
}
