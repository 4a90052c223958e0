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
	// transaction begins.
	Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error)
	// Unpack returns the document. The error is [ErrDamaged] if it can't be had
	// from what is stored, however often one tries.
	Unpack(ctx context.Context, p seqlease.Packed) ([]byte, error)
	// AcceptResults stores the results of entries that the attempts hold (L3, L5,
	// L10), or nothing. Lines that are stored already by the same attempt, for the
	// same revision with the same digest, are no fault (L6). The error is a
	// [*seqlease.RefusedError] with every refused line, [Submission.Invalid]
	// included, in line order.
	AcceptResults(ctx context.Context, s Submission) error
	// GiveBack ends the attempt's lease and makes its entries wait again (L8). It
	// returns how many entries were given back; an unknown attempt has none, nor has
	// a lease that has ended, unless g is undelivered.
	GiveBack(ctx context.Context, g GiveBack) (int, error)
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
	// Ended counts leases past their end that this claim took over.
	Ended int
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
	// CountsAsAttempt is false where the entries' attempts stay as before the claim.
	CountsAsAttempt bool
	// Undelivered says that the batch never reached the worker. Then a lease that has
	// ended is given back too, if nobody has taken it over yet.
	Undelivered bool
}
