package queue

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/seqlease/seqlease"
)

// Quarantine puts selected entries that wait or are in processing into quarantine
// and returns how many (L16). What submitters read is the reason, cleaned
// ([CleanReason]). Calls on selections go on page by page, each page a transaction:
// after an error the count says how far they came, and repeating them is harmless.
// Errors of all of them: [*seqlease.InvalidError] naming the member,
// [seqlease.ErrUnknownOrganism].
func (q *Queue) Quarantine(ctx context.Context, s Selection, by, reason string) (int, error) {
	if err := q.checkSelection(s); err != nil {
		return 0, err
	}
	reason = CleanReason(reason)
	v := OperatorVerdict{By: by, Reason: operatorVerdict(reason)}
	var err error
	if v.Result, err = packVerdict(q.store, s.Organism, v.Reason); err != nil {
		return 0, fmt.Errorf("quarantine %s: %w", s.Organism, err)
	}
	n, err := everyPage(ctx, s, func(ctx context.Context, s Selection, after int64) (int, int64, error) {
		return q.store.PutInQuarantine(ctx, s, v, after, operatorPage)
	})
	q.operated(ctx, "quarantine", s.Organism, by, reason, n, err)
	if err != nil {
		return n, fmt.Errorf("quarantine %s: %w", s.Organism, err)
	}
	return n, nil
}

// Requeue takes selected entries out of quarantine, so that they wait with no
// attempts used, and returns how many (L9, L16).
func (q *Queue) Requeue(ctx context.Context, s Selection, by, reason string) (int, error) {
	if err := q.checkSelection(s); err != nil {
		return 0, err
	}
	n, err := everyPage(ctx, s, func(ctx context.Context, s Selection, after int64) (int, int64, error) {
		return q.store.Requeue(ctx, s, after, operatorPage)
	})
	q.operated(ctx, "requeue", s.Organism, by, CleanReason(reason), n, err)
	if err != nil {
		return n, fmt.Errorf("requeue %s: %w", s.Organism, err)
	}
	return n, nil
}

// FreeLeases ends leases, or cuts entries from theirs, as if they had run out, and
// returns how many entries it freed (L16). The reason is cleaned.
func (q *Queue) FreeLeases(ctx context.Context, f FreeLeases, by string) (int, error) {
	if err := q.checkFree(f); err != nil {
		return 0, err
	}
	f.Reason = CleanReason(f.Reason)
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

// Pause stops claims of the organism, or with a version above 0 of that live
// version ([seqlease.ErrPipelineUnknown]), until [Queue.Resume]. Leases go on (L16).
func (q *Queue) Pause(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, by, reason string) error {
	return q.setPaused(ctx, o, version, true, by, reason)
}

// Resume lets claims go on. Waiting claims are woken.
func (q *Queue) Resume(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, by, reason string) error {
	return q.setPaused(ctx, o, version, false, by, reason)
}

func (q *Queue) setPaused(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, paused bool, by, reason string) error {
	if _, err := q.organisms.Get(o); err != nil {
		return err
	}
	if version < 0 {
		return seqlease.InvalidParameter("version", fmt.Sprintf("the pipeline version must be at least 1, not %d", version))
	}
	what := "resume"
	if paused {
		what = "pause"
	}
	if err := q.store.SetPaused(ctx, o, version, paused); err != nil {
		return fmt.Errorf("%s %s, pipeline version %d: %w", what, o, version, err)
	}
	target := "every pipeline version"
	if version > 0 {
		target = strconv.FormatInt(int64(version), 10)
	}
	q.logger.LogAttrs(ctx, slog.LevelInfo, "operator acted", slog.String("action", what), slog.String("organism", string(o)),
		slog.String("pipeline_version", target), slog.String("by", by), slog.String("reason", CleanReason(reason)))
	return nil
}
