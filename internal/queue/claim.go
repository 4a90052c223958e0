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
}

// Claim moves up to r.Entries waiting entries under a fresh attempt id. A lease
// without entries means that nothing was waiting. The order of checks is the
// protocol's: parameters ([*seqlease.InvalidError] naming the parameter),
// organism ([seqlease.ErrUnknownOrganism]), pipeline version
// ([seqlease.ErrPipelineOutdated], [seqlease.ErrPipelineUnknown]).
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
	lease, err := q.store.Claim(storeCtx, claim)
	if err != nil {
		return Lease{}, fmt.Errorf("claim %s, pipeline version %d: %w", r.Organism, r.PipelineVersion, err)
	}
	if gone := ctx.Err(); gone != nil {
		if len(lease.Entries) > 0 {
			if err := q.GiveBackUndelivered(ctx, lease.AttemptID); err != nil {
				return Lease{}, err
			}
		}
		return Lease{}, fmt.Errorf("claim %s: the caller left: %w", r.Organism, gone)
	}
	return lease, nil
}

func (r ClaimRequest) check() error {
	switch {
	case r.Entries < 0 || r.Entries > MaxEntries:
		return seqlease.InvalidParameter("numberOfSequenceEntries",
			fmt.Sprintf("numberOfSequenceEntries must be from 0 to %d, not %d", MaxEntries, r.Entries))
	case r.LeaseSeconds != 0 && (r.LeaseSeconds < MinLeaseSeconds || r.LeaseSeconds > MaxLeaseSeconds):
		return seqlease.InvalidParameter("leaseSeconds",
			fmt.Sprintf("leaseSeconds must be from %d to %d, not %d", MinLeaseSeconds, MaxLeaseSeconds, r.LeaseSeconds))
	case utf8.RuneCountInString(r.WorkerID) > MaxWorkerID:
		return seqlease.InvalidParameter("workerId",
			"workerId may have at most "+strconv.Itoa(MaxWorkerID)+" characters")
	}
	for _, c := range r.WorkerID {
		if c == utf8.RuneError || unicode.IsControl(c) {
			return seqlease.InvalidParameter("workerId", "workerId may not have control characters or broken UTF-8 in it")
		}
	}
	return nil
}
