package queue

import (
	"context"
	"time"

	"github.com/seqlease/seqlease"
)

// OperatorStore is what the calls of operators need of storage (L16). Those that
// act on a selection take it page by page: each call is one transaction over at
// most limit entries, in order of the store's entry ids above after, and returns
// the last id that it looked at, 0 when it has come to the end. What a page finds
// is decided under the locks of its entries, so a call is safe beside workers,
// and repeating it is harmless. What a call of an operator changed is noted in the
// audit log in the transaction of each change ([OperatorNote]).
type OperatorStore interface {
	// Leases lists at most limit leases of the organism that hold something, by
	// start and attempt id, those that have ended included, behind the place of
	// after (nil: from the first).
	Leases(ctx context.Context, o seqlease.Organism, after *HeldLease, limit int) ([]HeldLease, error)
	// FreeLeases ends the leases, or cuts the entries from theirs, of the selection,
	// as if the lease had run out: the claim counts, with a [FailureFreed]. It works
	// on at most limit leases at a time, and returns how many entries it freed and
	// whether there may be more.
	FreeLeases(ctx context.Context, f FreeLeases, limit int) (freed int, more bool, err error)

	// Quarantined lists at most limit quarantined entries with store ids above after.
	Quarantined(ctx context.Context, o seqlease.Organism, after int64, limit int) ([]Quarantined, error)
	// PutInQuarantine quarantines selected entries that wait or are in processing
	// (of whichever version), with the result of v, as [KeeperStore.Quarantine] does.
	PutInQuarantine(ctx context.Context, s Selection, v OperatorVerdict, after int64, limit int) (n int, last int64, err error)
	// Requeue takes selected entries out of quarantine: their system results go,
	// and they wait with 0 attempts in [LaneFresh].
	Requeue(ctx context.Context, s Selection, after int64, limit int) (n int, last int64, err error)
	// Reprocess makes selected entries that have a present result of the selected
	// version (0: the current one), of a pipeline or of quarantine, wait in [LaneBulk]
	// beside it; a ticket or lease that is there already stays. The old result is
	// visible until the new one is accepted (V9).
	Reprocess(ctx context.Context, s Selection, after int64, limit int) (n int, last int64, err error)
	// FailedResults reads, of the entries with store ids above after, at most limit
	// present results with errors of that version (0: the current one), so that the
	// caller can look for an error text.
	FailedResults(ctx context.Context, o seqlease.Organism, v seqlease.PipelineVersion, after int64, limit int) ([]FailedResult, error)

	// SetPaused pauses or resumes the organism, or with version > 0 one live version
	// of it ([seqlease.ErrPipelineUnknown]). Resuming changes the marks (L14). The
	// audit log has it, if there is a note, also if that was its state before.
	SetPaused(ctx context.Context, o seqlease.Organism, version seqlease.PipelineVersion, paused bool, note *OperatorNote) error
	// Paused says what is paused.
	Paused(ctx context.Context, o seqlease.Organism) (PauseState, error)

	// History returns what became of an entry: its claims by start, its failures by
	// time, where it is in quarantine, and what else happened to it, at most limit of
	// the newest of each, all from one snapshot. [seqlease.ErrNotFound].
	History(ctx context.Context, o seqlease.Organism, av seqlease.AccessionVersion, limit int) (History, error)
	// FailingWorkers sums up, by worker and user, the failures of the last since that
	// cost an attempt or are refusals, most failures first. What the server couldn't
	// read ([FailureDamaged]) is no worker's.
	FailingWorkers(ctx context.Context, o seqlease.Organism, since time.Duration, limit int) ([]FailingWorker, error)
}

// Selection says which entries an operator means. All conditions must hold.
type Selection struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion    // 0: every live one
	Entries         []seqlease.AccessionVersion // nil: any
	// ErrorContains is a part of a reason: of the quarantine for Requeue, of a failure
	// of the present revision for PutInQuarantine; not for Reprocess. Case counts.
	ErrorContains string
	WorkerID      string // as ErrorContains, by the worker of a failure or of the lease
	// SubmittedFrom and SubmittedTo bound the instant of submission, inclusive and
	// exclusive; zero: unbounded.
	SubmittedFrom, SubmittedTo time.Time
	// All says that no condition is meant. The domain refuses a selection that has
	// neither this nor a condition; stores don't look at it.
	All bool
	// Note is where the call stands in the audit log; nil: nowhere.
	Note *OperatorNote
}

// FreeLeases says which leases an operator ends. All conditions must hold; at
// least one is given.
type FreeLeases struct {
	Organism   seqlease.Organism
	AttemptIDs []seqlease.AttemptID
	WorkerID   string
	Entries    []seqlease.AccessionVersion // cuts only these
	Reason     string
	// Note is where the call stands in the audit log; nil: nowhere.
	Note *OperatorNote
}

// HeldLease is a lease as operators see it.
type HeldLease struct {
	AttemptID       seqlease.AttemptID
	PipelineVersion seqlease.PipelineVersion
	ClaimedBy       string
	WorkerID        string
	ClaimedAt       time.Time
	Until           time.Time
	Ended           bool // by the database's clock
	Entries         int  // held still
	Claimed         int  // entries when it was claimed
	// First are the first entries held, in claim order, at most 10.
	First []seqlease.AccessionVersion
}

// Quarantined is an entry in quarantine.
type Quarantined struct {
	EntryID int64
	seqlease.AccessionVersion
	PipelineVersion seqlease.PipelineVersion
	At              time.Time
	By              string // the operator; empty: its attempts were used up
	Attempts        int
	HandOuts        int
	Reason          string
	Failures        []Failure // the last ones, newest first, at most 10
}

// OperatorVerdict is why and with which result an operator quarantines.
type OperatorVerdict struct {
	By     string
	Reason string
	Result PackedResult
}

// FailedResult is a stored result with errors.
type FailedResult struct {
	EntryID int64
	seqlease.AccessionVersion
	Document seqlease.Packed // of a [seqlease.StoredResult]
}

// PauseState is what is paused of an organism.
type PauseState struct {
	Organism bool
	Versions []seqlease.PipelineVersion // paused ones, ascending
}

// History is what became of an entry.
type History struct {
	Claims   []ClaimRecord
	Failures []Failure
	// Quarantine is where the entry is in quarantine, by pipeline version; without Failures.
	Quarantine []Quarantined
	// OmittedClaims and OmittedFailures count older ones than those above.
	OmittedClaims, OmittedFailures int64
	// Happened is what else happened, by kind and time, as stores keep it.
	// [History.Events] puts it together with the rest.
	Happened []Event
	// OmittedEvents counts what Happened leaves out.
	OmittedEvents int64
}

// ClaimRecord is one claim that the entry was part of.
type ClaimRecord struct {
	AttemptID       seqlease.AttemptID
	PipelineVersion seqlease.PipelineVersion
	ClaimedBy       string
	WorkerID        string
	ClaimedAt       time.Time
	Lease           time.Duration // as claimed
	Attempt         int           // of this entry, from 1
	Entries         int           // of the claim
	// Accepted is set if the present result is of this claim.
	Accepted *time.Time
	// Holding says that the entry is in this claim's lease, and Until is its end.
	Holding bool
	Until   time.Time
}

// FailingWorker is a worker whose batches fail.
type FailingWorker struct {
	WorkerID   string
	ClaimedBy  string
	Failures   int // entries
	LastAt     time.Time
	LastKind   FailureKind
	LastReason string
}
