package queue

import (
	"context"
	"errors"

	"github.com/seqlease/seqlease"
)

// Versions are asked when a claim finds no version or no work (V2, V3). Claims
// that get entries never ask them.
type Versions interface {
	// Register registers a version that isn't. Errors: [seqlease.ErrPipelineOutdated],
	// [seqlease.ErrPipelineUnknown] for one above the ceiling.
	Register(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion) error
	// Fill adds some of the tickets that a registered version lacks, and says whether
	// it added any. It waits for nobody who does the same.
	Fill(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion) (added bool, err error)
}

// WithVersions lets newer pipeline versions register themselves with their first
// claim. Without it they are refused with [seqlease.ErrPipelineUnknown].
func WithVersions(v Versions) Option { return func(q *Queue) { q.versions = v } }

// fillTries is how often a claim adds tickets that others then take before it.
const fillTries = 3

// claimOfVersion claims, and where that finds the version not registered, or
// nothing that waits while its backfill goes on, it sees to that and claims again.
func (q *Queue) claimOfVersion(ctx context.Context, c Claim) (Lease, error) {
	lease, err := q.store.Claim(ctx, c)
	if q.versions == nil {
		return lease, err
	}
	if errors.Is(err, seqlease.ErrPipelineUnknown) {
		if err = q.versions.Register(ctx, c.Organism, c.PipelineVersion); err == nil {
			lease, err = q.store.Claim(ctx, c)
		}
	}
	for range fillTries {
		if err != nil || len(lease.Entries) > 0 || lease.Paused || c.Entries == 0 {
			break
		}
		added, fault := q.versions.Fill(ctx, c.Organism, c.PipelineVersion)
		if fault != nil {
			return Lease{}, fault
		}
		if !added {
			break
		}
		ended := lease.EndedOf
		lease, err = q.store.Claim(ctx, c)
		lease.EndedOf, lease.Ended = append(ended, lease.EndedOf...), lease.Ended+len(ended)
	}
	return lease, err
}
