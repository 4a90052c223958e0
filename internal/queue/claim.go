package queue

import (
	"context"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seqlease/seqlease"
)

// The limits of a claim (protocol: extract-unprocessed-data).
const (
	// MaxEntries is the largest batch.
	MaxEntries = 100_000
	// DefaultLeaseSeconds is the lease of a claim that asks for none.
	DefaultLeaseSeconds = 600
	// MinLeaseSeconds and MaxLeaseSeconds bound a lease.
	MinLeaseSeconds = 10
	MaxLeaseSeconds = 86_400
	// MaxWorkerID is the longest worker id in characters.
	MaxWorkerID = 200
	// MaxWait is the longest that a claim may wait for work.
	MaxWait = 30 * time.Second
)

// claimTimeout bounds a claim, which a leaving client doesn't cancel. Clients
// wait 30 s for the first byte.
const claimTimeout = 25 * time.Second

// giveBackTimeout bounds giving back what could not be delivered.
const giveBackTimeout = 10 * time.Second

// ClaimRequest asks for a batch.
type ClaimRequest struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Entries         int    // 0 to [MaxEntries]; 0 only reads the mark
	LeaseSeconds    int    // 0: [DefaultLeaseSeconds]
	ClaimedBy       string // user of the token: the lease belongs to them
	WorkerID        string // a label for people, may be empty
	// Wait is how long to wait for work if there is none: whole seconds, 0 to [MaxWait].
	Wait time.Duration
}

// Claim moves up to r.Entries waiting entries under a fresh attempt id. A lease
// without entries means that nothing was waiting, or that the queue is paused, or
// with [Lease.RetryAfter] that the worker should slow down (L9). The order of
// checks is the protocol's: parameters ([*seqlease.InvalidError] naming the
// parameter), organism ([seqlease.ErrUnknownOrganism]), pipeline version
// ([seqlease.ErrPipelineOutdated], [seqlease.ErrPipelineUnknown]). A newer version
// registers itself ([WithVersions]).
//
// With r.Wait an empty claim waits, holding nothing of the store, until something
// may be claimable or the time is over, and claims again; the answer's mark is
// that of the last claim.
//
// A caller that leaves doesn't interrupt the claim; what it claimed is then
// given back and costs no attempt (L8), and the error is that of ctx.
func (q *Queue) Claim(ctx context.Context, r ClaimRequest) (Lease, error) {
	if err := r.check(); err != nil {
		return Lease{}, err
	}
	if _, err := q.organisms.Get(r.Organism); err != nil {
		return Lease{}, err
	}
	if pause := q.failing.pause(r.worker()); pause > 0 && r.Entries > 0 {
		r.Entries = 0 // the version is checked all the same
		lease, err := q.claimOnce(ctx, r)
		lease.Mark, lease.RetryAfter = "", pause
		return lease, err
	}
	if r.Wait == 0 || r.Entries == 0 {
		return q.claimOnce(ctx, r)
	}
	return q.claimOrWait(ctx, r)
}

func (r ClaimRequest) worker() worker { return worker{user: r.ClaimedBy, id: r.WorkerID} }

// claimOnce asks the store.
func (q *Queue) claimOnce(ctx context.Context, r ClaimRequest) (Lease, error) {
	claim := Claim{
		Organism: r.Organism, PipelineVersion: r.PipelineVersion, Entries: r.Entries,
		AttemptID: seqlease.NewAttemptID(), Lease: DefaultLeaseSeconds * time.Second,
		ClaimedBy: r.ClaimedBy, WorkerID: r.WorkerID,
	}
	if r.LeaseSeconds != 0 {
		claim.Lease = time.Duration(r.LeaseSeconds) * time.Second
	}
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	lease, err := q.claimOfVersion(storeCtx, claim)
	if err != nil {
		return Lease{}, fmt.Errorf("claim %s, pipeline version %d: %w", r.Organism, r.PipelineVersion, err)
	}
	q.LeasesEnded(lease.EndedOf)
	if gone := ctx.Err(); gone != nil {
		if len(lease.Entries) > 0 {
			if err := q.GiveBackUndelivered(ctx, lease.AttemptID); err != nil {
				return Lease{}, err
			}
		}
		return Lease{}, callerLeft(r, gone)
	}
	if len(lease.Entries) > 0 {
		q.failing.claimed(lease.AttemptID, r.worker())
	}
	return lease, nil
}

// LeasesEnded counts leases that ran out as failures of their workers, so that one
// that dies with everything it touches is slowed down (L9), whoever found them.
func (q *Queue) LeasesEnded(ended []EndedLease) {
	for _, e := range ended {
		q.failing.leaseEnded(worker{user: e.ClaimedBy, id: e.WorkerID})
	}
}

func callerLeft(r ClaimRequest, gone error) error {
	return fmt.Errorf("claim %s: the caller left: %w", r.Organism, gone)
}

func (r ClaimRequest) check() error {
	switch {
	case r.Entries < 0 || r.Entries > MaxEntries:
		return seqlease.InvalidParameter("numberOfSequenceEntries",
			fmt.Sprintf("numberOfSequenceEntries must be from 0 to %d, not %d", MaxEntries, r.Entries))
	case r.Wait < 0 || r.Wait > MaxWait || r.Wait%time.Second != 0:
		return seqlease.InvalidParameter("waitSeconds",
			fmt.Sprintf("waitSeconds must be from 0 to %d whole seconds, not %g", int(MaxWait.Seconds()), r.Wait.Seconds()))
	}
	if r.LeaseSeconds != 0 {
		if err := checkLease(r.LeaseSeconds); err != nil {
			return err
		}
	}
	return checkWorkerID(r.WorkerID)
}

func checkWorkerID(id string) error {
	if utf8.RuneCountInString(id) > MaxWorkerID {
		return seqlease.InvalidParameter("workerId",
			"workerId may have at most "+strconv.Itoa(MaxWorkerID)+" characters")
	}
	for _, c := range id {
		if c == utf8.RuneError || unicode.IsControl(c) {
			return seqlease.InvalidParameter("workerId", "workerId may not have control characters or broken UTF-8 in it")
		}
	}
	return nil
}
