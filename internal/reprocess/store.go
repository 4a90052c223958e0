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
