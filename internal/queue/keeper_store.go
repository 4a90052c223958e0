package queue

import (
	"context"
	"time"

	"github.com/seqlease/seqlease"
)

// KeeperStore is what the background keeper needs of storage. Each call is a
// small transaction that tests again what an earlier one read, so that any number
// of servers may run keepers at once (B001). Progress never waits for it (L4).
type KeeperStore interface {
	// Sweep makes the entries of at most limit leases that have ended wait again,
	// each with a [FailureExpired]. It returns how many leases it worked on, and whose
	// those were that are gone with it.
	Sweep(ctx context.Context, limit int) (leases int, ended []EndedLease, err error)
	// Spent returns at most limit tickets whose attempts or hand-outs are used up
	// (L9), of every organism and live version, with what went wrong last.
	Spent(ctx context.Context, limit int) ([]SpentTicket, error)
	// Quarantine replaces those of the tickets that are as they were read, entry
	// revision included, by their verdicts, and returns how many they were. A good
	// result stays: then only the ticket goes, and the quarantine is noted beside it.
	Quarantine(ctx context.Context, verdicts []Verdict) (int, error)
	// TrimHistory removes at most limit records of the history that ended longer
	// than keep ago, and returns how many there were.
	TrimHistory(ctx context.Context, keep time.Duration, limit int) (int, error)
	// TrimUploadKeys removes at most limit keys of uploads that were stored longer than
	// keep ago, and returns how many there were: from then on they are free.
	TrimUploadKeys(ctx context.Context, keep time.Duration, limit int) (int, error)
	// Reconcile looks at the limit entries with ids above after, of all organisms,
	// and gives each that has neither ticket, lease nor present result for a live
	// version whose backfill is complete a ticket (L1, V4). It returns how many tickets it added and the last
	// id that it looked at, 0 if there were none above after.
	Reconcile(ctx context.Context, after int64, limit int) (added int, last int64, err error)
}

// SpentTicket is a waiting entry that is never claimed again.
type SpentTicket struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	seqlease.AccessionVersion
	EntryID  int64 // the store's
	Revision int
	Attempts int
	HandOuts int // all of them, the counted ones included
	// Failures are the last ones of this revision, newest first, at most 10.
	Failures []Failure
}

// Verdict ends a spent ticket.
type Verdict struct {
	SpentTicket
	// Reason is what the operator and the submitter read.
	Reason string
	// Result is the packed document of a [seqlease.StoredResult] that has the reason
	// as its one error, with its digest.
	Result PackedResult
}

// PackedResult is the packed document of a [seqlease.StoredResult].
type PackedResult struct {
	seqlease.Packed
	Digest [16]byte
}

// FailureKind says how an attempt at an entry ended, if not with its result.
type FailureKind string

// The kinds of failures.
const (
	FailureExpired     FailureKind = "expired"     // the lease ran out
	FailureGivenBack   FailureKind = "given-back"  // by the worker
	FailureUndelivered FailureKind = "undelivered" // the claim never reached the worker
	FailureRefused     FailureKind = "refused"     // the result broke a rule; the lease goes on
	FailureFreed       FailureKind = "freed"       // by an operator
	FailureDamaged     FailureKind = "damaged"     // what is stored of the entry can't be read
)

// Failure is one thing that went wrong with an entry.
type Failure struct {
	At              time.Time
	PipelineVersion seqlease.PipelineVersion
	AttemptID       seqlease.AttemptID
	Kind            FailureKind
	WorkerID        string
	ClaimedBy       string
	Counted         bool   // cost an attempt; false also for refusals, after which the lease goes on
	Reason          string // may be empty
}
