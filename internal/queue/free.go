package queue

import (
	"context"
	"fmt"

	"github.com/seqlease/seqlease"
)

// FreeLeases ends leases, or cuts entries from theirs, as if they had run out, and
// returns how many entries it freed (L16). The reason is cleaned.
func (q *Queue) FreeLeases(ctx context.Context, f FreeLeases, by string) (int, error) {
	if err := q.checkFree(f); err != nil {
		return 0, err
	}
	f.Reason = CleanReason(f.Reason)
	f.Note = noteOf(by, f.target(), f.Reason)
	total, err := 0, error(nil)
	for more := true; more && err == nil; {
		var freed int
		freed, more, err = q.store.FreeLeases(ctx, f, leasePage)
		total += freed
	}
	q.operated(ctx, "free leases", f.Organism, by, f.Reason, total, err)
	if err != nil {
		return total, fmt.Errorf("free leases of %s: %w", f.Organism, err)
	}
	return total, nil
}

// leasePage is how many leases are freed in one transaction.
const leasePage = 100

func (q *Queue) checkFree(f FreeLeases) error {
	if _, err := q.organisms.Get(f.Organism); err != nil {
		return err
	}
	switch {
	case len(f.Entries) > MaxEntries:
		return tooManyEntries(len(f.Entries))
	case len(f.AttemptIDs) > MaxEntries:
		return seqlease.InvalidParameter("processingAttemptIds",
			fmt.Sprintf("processingAttemptIds may list at most %d attempts, not %d", MaxEntries, len(f.AttemptIDs)))
	case f.AttemptIDs == nil && f.Entries == nil && f.WorkerID == "":
		return seqlease.InvalidParameter("processingAttemptIds",
			"the selection has no condition: give processingAttemptIds, workerId or accessionVersions")
	}
	return checkWorkerID(f.WorkerID)
}
