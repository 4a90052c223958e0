package queue

import (
	"context"
	"errors"
	"time"

	"github.com/seqlease/seqlease"
)

// Store is what the queue needs of storage. Each method is one rule in one
// transaction, and every instant in it is read from the database's clock (L11).
// All methods may be called concurrently.
type Store interface {
	RenewStore
	WaitStore
	OperatorStore
	AdminStore
	KeeperStore

	// Claim moves up to c.Entries waiting entries under c.AttemptID (L2, L4).
	// With nothing waiting the lease has no entries and its Mark may answer "not
	// modified" (L14). Errors: [seqlease.ErrUnknownOrganism],
	// [seqlease.ErrPipelineOutdated], [seqlease.ErrPipelineUnknown]. If the
	// answer of a commit is lost, the store gives the attempt back and claims anew.
	Claim(ctx context.Context, c Claim) (Lease, error)
	// ReadClaimed returns, in claim order, the entries of a claim that have a place
	// from skip on and below skip+limit, with their documents. It leaves out what
	// the attempt no longer holds at the claimed revision, and ends before the
	// document with which the page would be larger than [PayloadBytes], but not
	// before the first: whoever reads on does so behind the place of the last.
	ReadClaimed(ctx context.Context, id seqlease.AttemptID, skip, limit int) ([]ClaimedEntry, error)
	// Pack compresses a document for storage against the organism's present
	// reference, so that a body of results can be taken in line by line before any
	// transaction begins. It doesn't keep the document's memory.
	Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error)
	// Unpack returns the document. The error is [ErrDamaged] if it can't be had
	// from what is stored, however often one tries.
	Unpack(ctx context.Context, p seqlease.Packed) ([]byte, error)
	// OrganismsOf returns of which organisms the entries are; those that don't exist are
	// left out. The list names each once.
	OrganismsOf(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]seqlease.Organism, error)
	// AcceptResults stores the results of entries that the attempts hold (L3, L5,
	// L10), or nothing. Lines that are stored already by the same attempt, for the
	// same revision with the same digest, are no fault (L6). The error is a
	// [*seqlease.RefusedError] with every refused line, [Submission.Invalid]
	// included, in line order.
	//
	// With s.Skip the good lines are stored and the others, Invalid included, are
	// returned in the answer (L5); then the error is never a RefusedError.
	// Repetitions count as stored. Every refusal, in both modes, is noted as a
	// [FailureRefused] of the entries that the attempts hold, in a transaction of its
	// own; that this failed is logged, and changes no answer.
	AcceptResults(ctx context.Context, s Submission) (Accepted, error)
	// GiveBack ends the attempt's lease, or cuts entries from it, and makes them wait
	// again (L8). It returns how many entries were given back; an unknown attempt has
	// none, nor has a lease that has ended, unless g is undelivered.
	// Undelivered and damaged is given back by the server, anything else by its user: then
	// nothing held by that attempt and user is [seqlease.ErrLeaseLost], and entries
	// that the lease doesn't hold are passed over.
	GiveBack(ctx context.Context, g GiveBack) (int, error)
}

// RenewStore extends leases.
type RenewStore interface {
	// Renew moves the end of a running lease to r.Lease after the database's present
	// (L7). An ended lease is never revived, and a lease that holds nothing is none:
	// [seqlease.ErrLeaseLost], as for another user's.
	Renew(ctx context.Context, r Renew) (Renewed, error)
}

// WaitStore lets one look at the database answer for every waiting claim.
type WaitStore interface {
	// Stirred says for each of them whether something may have become claimable
	// since its mark was read: the mark is another, or a lease has ended. It is one
	// statement.
	Stirred(ctx context.Context, awaited []Awaited) ([]bool, error)
}

// Awaited is a queue that was empty, with the mark of the empty answer.
type Awaited struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Mark            string
}

// Renew asks for a later lease end.
type Renew struct {
	Organism  seqlease.Organism
	AttemptID seqlease.AttemptID
	ClaimedBy string        // user of the token; another user's lease counts as lost
	Lease     time.Duration // whole seconds; 0: as claimed
}

// Renewed is a lease after its renewal.
type Renewed struct {
	Until time.Time // by the database's clock
	Lease time.Duration
	Held  int // entries
	// Lost are entries that were cut from the lease since the claim by an edit, a
	// deletion or an operator, in no order. Results that were accepted and entries
	// that were given back aren't lost.
	Lost []seqlease.AccessionVersion
}

// Accepted is what became of a submission of results.
type Accepted struct {
	Stored  int                // lines stored, repetitions included
	Refused []seqlease.Refusal // in line order; only with Skip
}

// PayloadLimit is the largest claim that [Store.Claim] may return with documents,
// and the most entries that are read at once.
const PayloadLimit = 1000

// PayloadBytes is how many bytes of documents, as stored, are in memory at once:
// [Store.Claim] returns the first ones up to there, and [Store.ReadClaimed] the
// others in pages (L12).
const PayloadBytes = 4 << 20

// ErrDamaged says that a stored document can't be decompressed.
var ErrDamaged = errors.New("the stored document is damaged")

// Claim asks for work.
type Claim struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	Entries         int // how many at most; 0 only reads the mark
	AttemptID       seqlease.AttemptID
	Lease           time.Duration // whole seconds
	ClaimedBy       string        // user of the token: the lease belongs to them
	WorkerID        string        // a label for people
}

// Lease is a claimed batch.
type Lease struct {
	AttemptID seqlease.AttemptID
	Until     time.Time // lease end by the database's clock
	Lease     time.Duration
	Entries   []ClaimedEntry // in claim order
	// Ended counts leases past their end that this claim took over, and EndedOf are
	// whose they were.
	Ended   int
	EndedOf []EndedLease
	// Paused says that the organism or the version is paused; then there are no entries.
	Paused bool
	// RetryAfter is set by [Queue.Claim] alone: whole seconds for which a worker that
	// fails everything should stay away (L9). Then there are no entries and no mark.
	RetryAfter time.Duration
	// Mark is the state of the queue from which the claim was answered: as long
	// as it is unchanged, nothing was added for this organism and version. Leases
	// that end don't change it. It is an opaque word of printable ASCII.
	Mark string
}

// ClaimedEntry is one entry of a claimed batch.
type ClaimedEntry struct {
	seqlease.AccessionVersion
	Place int // in the claim, from 0
	// Packed is the JSON document of a [seqlease.SubmittedData] as it is stored. Its
	// Bytes are nil if it is to be read with [Store.ReadClaimed].
	Packed       seqlease.Packed
	SubmissionID string
	Submitter    string
	GroupID      int64
	SubmittedAt  time.Time
	Attempt      int // from 1
}

// Submission is a body of results, checked and in the normal form of storage.
type Submission struct {
	Organism        seqlease.Organism
	PipelineVersion seqlease.PipelineVersion
	ClaimedBy       string // user of the token; another user's lease counts as lost
	Lines           []Line
	// Invalid are lines that were refused before the store was asked. With any
	// of them nothing is stored, and the store adds its own refusals.
	Invalid []seqlease.Refusal
	Skip    bool // store the good lines though others are refused
}

// Line is one result.
type Line struct {
	seqlease.AccessionVersion
	Number    int // 1-based line of the body
	AttemptID seqlease.AttemptID
	Result    seqlease.ProcessingResult
	Digest    [16]byte        // of the document, to tell a repetition from a different result
	Packed    seqlease.Packed // JSON document of a [seqlease.StoredResult]
}

// GiveBack returns a lease.
type GiveBack struct {
	AttemptID seqlease.AttemptID
	// Organism and ClaimedBy are those of the path and of the token; not for
	// undelivered batches.
	Organism  seqlease.Organism
	ClaimedBy string
	Entries   []seqlease.AccessionVersion // nil: all that the lease holds
	Reason    string                      // storable text of at most [MaxReasonBytes], may be empty
	// CountsAsAttempt is false where the entries' attempts stay as before the claim.
	CountsAsAttempt bool
	// Undelivered says that the batch never reached the worker. Then a lease that has
	// ended is given back too, if nobody has taken it over yet.
	Undelivered bool
	// Damaged says that the server couldn't read the entries: it gives them back
	// whoever claimed them, as [FailureDamaged]. ClaimedBy is not compared.
	Damaged bool
}

// EndedLease is a lease that ran out.
type EndedLease struct {
	WorkerID  string
	ClaimedBy string
}

// MaxReasonBytes bounds the text of a reason or a refusal as it is kept.
const MaxReasonBytes = 2000
