package submission

import (
	"context"
	"iter"
	"time"

	"github.com/seqlease/seqlease"
)

// Store is what the life of an entry needs of storage. Each method is one rule
// in one transaction, and every instant in it is read from the database's clock
// (L11). No transaction is open while bytes travel to or from a client (L12):
// sequences and callbacks given here read and write local memory and files only.
// All methods may be called concurrently.
type Store interface {
	SubmittedStore
	StandingStore
	RevokeStore
	EditStore
	DataToEditStore
	DeleteStore
	ExternalStore
	GroupStore
	TermsStore
	ReviseStore
	UploadKeyStore

	// Now returns the instant of the database's clock (L11), in UTC.
	Now(ctx context.Context) (time.Time, error)

	// CreateGroup stores a group with its creator as the first member.
	CreateGroup(ctx context.Context, g seqlease.NewGroup, creator string) (seqlease.Group, error)
	// Group returns a group and its members in order of name, or [seqlease.ErrNotFound].
	Group(ctx context.Context, id int64) (seqlease.Group, []string, error)
	// GroupsOf returns the groups of a member by ascending id; of everybody if
	// member is empty.
	GroupsOf(ctx context.Context, member string) ([]seqlease.Group, error)

	// Pack compresses a document for storage against the organism's present
	// reference. It is called concurrently, also while Submit reads the entries.
	Pack(o seqlease.Organism, document []byte) (seqlease.Packed, error)
	// Submit stores the entries of an upload with version 1, fresh accessions that
	// ascend in the order of the entries, their data use terms and a ticket for
	// each live pipeline version, all or nothing (L1). With a key it does so as
	// [UploadKeyStore] says.
	Submit(ctx context.Context, u Upload) ([]seqlease.SubmissionIDMapping, error)
	// Approve releases the entries that the approval takes, all with one instant,
	// and returns them in order. State and result are re-tested under the
	// entries' locks. With a filter that names an entry which doesn't exist, is of
	// another organism, isn't processed or has errors, nothing is approved and the
	// error is a [*StateError]; the other filters don't narrow these checks. The
	// audit log gets one row.
	Approve(ctx context.Context, a Approval) ([]seqlease.AccessionVersion, error)

	// GroupsOfEntries returns the groups that the given entries belong to; entries
	// that don't exist are left out.
	GroupsOfEntries(ctx context.Context, entries []seqlease.AccessionVersion) (map[seqlease.AccessionVersion]int64, error)

	// List calls yield for each entry version that the filter takes, by accession
	// and version, and returns the counts, all from one snapshot. An error of
	// yield ends the call and is returned.
	List(ctx context.Context, f ListFilter, yield func(ListedEntry) error) (Counts, error)

	// ReleasedMark returns the state of what is released of the organism: a word
	// of printable ASCII that changes with every change of it and rises in plain
	// string order.
	ReleasedMark(ctx context.Context, o seqlease.Organism) (string, error)
	// ReadReleased reads what is released from one snapshot: begin once, then
	// yield for each entry version by accession and version. An error of either
	// ends the call and is returned. The yielded bodies are valid until yield returns.
	ReadReleased(ctx context.Context, o seqlease.Organism, begin func(ReleasedHead) error, yield func(ReleasedEntry) error) error
}

// Upload is a checked submission, ready to be stored.
type Upload struct {
	Organism        seqlease.Organism
	GroupID         int64
	Submitter       string
	Terms           seqlease.DataUseTerms
	AccessionPrefix string
	// Entries yields the entries in the order of the metadata file, each with bytes
	// of its own. It may be ranged over more than once, and within a transaction. An
	// error in it ends the submission.
	Entries iter.Seq2[PackedEntry, error]
	Key     *UploadKey // nil: none
}

// PackedEntry is one entry of an upload, ready to be stored.
type PackedEntry struct {
	SubmissionID string
	Data         seqlease.Packed // document of a [seqlease.SubmittedData]
}

// Approval says which processed entries to release. Nil filters take everything.
type Approval struct {
	Organism   seqlease.Organism
	Approver   string
	Scope      seqlease.ApprovalScope
	Entries    []seqlease.AccessionVersion // nil: all
	GroupIDs   []int64                     // nil: all; empty: none
	Submitters []string                    // nil: all; empty: none
}

// StateError lists entries whose state forbids what was asked, each with the
// reason. It is [seqlease.ErrState] to [errors.Is].
type StateError struct {
	Missing      []seqlease.AccessionVersion                       // don't exist
	Unknown      []seqlease.Accession                              // have no version at all
	Foreign      map[seqlease.Organism][]seqlease.AccessionVersion // of another organism
	WrongStatus  map[seqlease.AccessionVersion]seqlease.Status
	WithErrors   []seqlease.AccessionVersion
	Revocations  []seqlease.AccessionVersion // where there must be data
	WantStatuses []seqlease.Status           // what WrongStatus should have been
}

// Explanation returns the text: it is for whoever asked ([seqlease.Explanation]).
func (e *StateError) Explanation() string { return e.Error() }

// ListFilter says which entries are listed. Nil lists take everything, empty
// ones nothing.
type ListFilter struct {
	Organism seqlease.Organism
	GroupIDs []int64
	Statuses []seqlease.Status
	// Results restricts only entries whose status is processed.
	Results []seqlease.ProcessingResult
	Offset  int
	Limit   int // 0: no limit
}

// ListedEntry is one entry version as people see it.
type ListedEntry struct {
	seqlease.AccessionVersion
	Status       seqlease.Status
	Result       seqlease.ProcessingResult // empty while in processing
	GroupID      int64
	Submitter    string
	IsRevocation bool
	SubmissionID string
	Terms        seqlease.DataUseTerms // the newest stored
}

// Counts are over everything that the organism and group filter take, whatever
// the other filters say. Results counts processed entries only.
type Counts struct {
	Statuses map[seqlease.Status]int64
	Results  map[seqlease.ProcessingResult]int64
}

// ReleasedHead comes before the released entries, of the same snapshot.
type ReleasedHead struct {
	Count int64
	Mark  string    // as of ReleasedMark
	Now   time.Time // the database's clock
}

// ReleasedEntry is one released entry version.
type ReleasedEntry struct {
	seqlease.AccessionVersion
	SubmissionID    string
	Submitter       string
	GroupID         int64
	GroupName       string
	IsRevocation    bool
	SubmittedAt     time.Time
	ReleasedAt      time.Time
	PipelineVersion seqlease.PipelineVersion // the current one for revocations
	Terms           seqlease.DataUseTerms
	TermsChangedAt  time.Time
	// Result is the JSON document of a [seqlease.StoredResult]; nil for revocations,
	// and for entries that have none under the current pipeline version: they are
	// released all the same.
	Result []byte
	// External is what updaters say of it, by their names.
	External []ExternalDocument
	// Submitted is the JSON document of a [seqlease.SubmittedData], for
	// revocations only.
	Submitted []byte
}
