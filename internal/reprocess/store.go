package reprocess

import (
	"context"

	"github.com/seqlease/seqlease"
)

// Store is what the room needs of storage. All methods may be called
// concurrently, by any number of servers.
type Store interface {
	// RegisterVersion registers a version above the current one by at most ahead,
	// with its change counters, and begins its backfill. It changes nothing about one
	// that is registered. The error is [seqlease.ErrUnknownOrganism] for an organism
	// that the store doesn't know.
	RegisterVersion(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, ahead int64) (Registration, error)
	// Backfill adds a chunk of what a version lacks, unless somebody does so at this
	// moment: it looks at at most limit entries, and makes those wait in the lane of
	// bulk work that aren't revocations and have neither ticket, lease nor present
	// result (V3, V4), groups in turn (L17). It is one short transaction that locks no
	// entry; others wait for at most the tickets of it. It changes the version's mark
	// if it added anything (L14).
	//
	// A backfill is complete when all of a pass saw every entry of those who didn't
	// see the version.
	Backfill(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, limit int) (Chunk, error)
	// Unfinished lists the backfills that aren't complete.
	Unfinished(ctx context.Context) ([]Version, error)
	SwitchStore
}

// SwitchStore moves the current versions of organisms, and removes old ones.
type SwitchStore interface {
	// Candidates lists the versions that may become current, of each organism the newest
	// first: registered, above the current one, not paused, and their backfill is
	// complete. Where nobody registered a newer version it reads next to nothing.
	Candidates(ctx context.Context) ([]Candidate, error)
	// FindBlocker looks at at most limit results of the current version from an entry id
	// on, for one without errors whose entry has none without errors under the candidate.
	// Entries of accessions with a released revocation block nothing. It reads keys
	// alone (V8), so that a result of data that was edited since counts here as one.
	FindBlocker(ctx context.Context, c Candidate, after int64, limit int) (Look, error)
	// Compare says how far the versions are. It reads keys alone, but all of them.
	Compare(ctx context.Context, c Candidate) (Standing, error)
	// MaySwitch says whether the candidate still is one, and none of the entries that
	// wait for it, are in processing by it or have errors under it blocks it (V5):
	// whatever came to block it since all entries were looked at is one of these.
	MaySwitch(ctx context.Context, c Candidate) (bool, error)
	// Switch makes the candidate the current version, if MaySwitch says so at that
	// instant. It is atomic and keeps results out meanwhile, for as long as that takes, so
	// that each comes before it or after it; it gives up with [seqlease.ErrBusy] if it
	// can't do so soon. It changes the marks of what is released and of every live queue
	// (L13), and ends the backfills of versions below.
	Switch(ctx context.Context, c Candidate) (switched bool, err error)
	// Outdated lists the versions below the current one that are there and above which
	// keep versions have been current (V7), from when on nobody gives tickets to them any
	// more; it takes a second call, at least, to know that.
	Outdated(ctx context.Context, keep int) ([]Version, error)
	// Retire deletes some rows of a version below the current one: leases, whose
	// attempts hold nothing then, tickets, quarantine, and the results among those of
	// the next limit entries from an entry id on. Claims and failures stay in the history
	// of entries; that they were processed goes with the results. It changes nothing about any other version.
	Retire(ctx context.Context, of Version, after int64, limit int) (Retired, error)
}

// Retired is what became of a chunk.
type Retired struct {
	Last    int64 // the id of the last entry that was looked at
	Gone    bool  // nothing is left: the version isn't registered any more
	Waiting bool  // the end was reached, and something is left that somebody else holds
}

// Version names a pipeline version of an organism.
type Version struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
}

// Registration is what became of one.
type Registration struct {
	Current seqlease.PipelineVersion
	// Allowed says that the version is above the current one, and not by too much.
	// Then it is registered.
	Allowed bool
	Made    bool // it was not registered before
}

// Chunk is what became of one.
type Chunk struct {
	Tickets  int // added
	Progress Progress
}

// Progress says how far a backfill is.
type Progress int

const (
	// Complete says that there is no unfinished backfill of the version.
	Complete Progress = iota
	// More says that the next chunk can be made.
	More
	// Busy says that somebody else is making a chunk.
	Busy
	// Waiting says that all entries were looked at, but others may come of transactions
	// that had begun before the version was registered.
	Waiting
)
