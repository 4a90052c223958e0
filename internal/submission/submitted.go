package submission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqlease/seqlease"
)

// SubmittedStore is what reading back what was submitted needs of storage. Both
// reads call begin once and then yield for each entry version, by accession and
// version and all from one snapshot. An error of either ends the call and is
// returned. What is yielded is valid until yield returns; it can be unpacked there
// without asking the database.
type SubmittedStore interface {
	// ReadSubmitted reads what was submitted with the entry versions that the filter
	// takes, as it is after edits.
	ReadSubmitted(ctx context.Context, f SubmittedFilter, begin func(SubmittedHead) error, yield func(SubmittedEntry) error) error
	// ReadRevisable reads the same of a group's entries that can be revised: those
	// whose highest version, of whatever status, is released and no revocation.
	ReadRevisable(ctx context.Context, f RevisableFilter, begin func(SubmittedHead) error, yield func(SubmittedEntry) error) error
	// Unpack returns a document that was packed.
	Unpack(ctx context.Context, p seqlease.Packed) ([]byte, error)
}

// SubmittedFilter says of which entry versions. Nil lists take everything, empty
// ones nothing. Entries that don't exist are not found.
type SubmittedFilter struct {
	Organism seqlease.Organism
	Entries  []seqlease.AccessionVersion
	GroupIDs []int64
	Statuses []seqlease.Status
}

// RevisableFilter says of which entries. A nil list takes everything.
type RevisableFilter struct {
	Organism   seqlease.Organism
	GroupID    int64
	Accessions []seqlease.Accession
}

// SubmittedHead comes before the entries, of the same snapshot.
type SubmittedHead struct {
	Count int64     // entry versions that follow
	Now   time.Time // the database's clock, in UTC
}

// SubmittedEntry is one entry version with what was submitted.
type SubmittedEntry struct {
	seqlease.AccessionVersion
	SubmissionID string
	Submitter    string
	IsRevocation bool
	Data         seqlease.Packed // document of a [seqlease.SubmittedData]; without bytes: there is none
}

// errNoDocument is an entry without what was submitted, which only a revocation may be.
var errNoDocument = errors.New("what was submitted is not there")

// document unpacks what was submitted; of a revocation that has nothing it is empty.
func (e *SubmittedEntry) document(ctx context.Context, store SubmittedStore) ([]byte, error) {
	if len(e.Data.Bytes) == 0 {
		if e.IsRevocation {
			return []byte(`{"metadata":{},"unalignedNucleotideSequences":{}}`), nil
		}
		return nil, fmt.Errorf("%s: %w", e.AccessionVersion, errNoDocument)
	}
	document, err := store.Unpack(ctx, e.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.AccessionVersion, err)
	}
	return document, nil
}

// checkAccessions refuses accessions that can't be any.
func checkAccessions(field string, accessions []seqlease.Accession) error {
	invalid := &seqlease.InvalidError{}
	for _, a := range accessions {
		if fault := a.Fault(); fault != "" {
			invalid.Add(seqlease.Problem{
				Field: field, Value: fmt.Sprintf("%.60q", string(a)), Message: fmt.Sprintf("the accession %.60q %s", string(a), fault),
			})
		}
	}
	return invalid.OrNil()
}

// orNil takes an empty list for none (protocol, quirk 14).
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clip(list)
}
