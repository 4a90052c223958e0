package submission

import (
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// DataToEditRequest asks for the data of an entry.
type DataToEditRequest struct {
	Organism seqlease.Organism
	seqlease.AccessionVersion
	// Memory is called before the documents are unpacked, with how many bytes they
	// have; it may wait. Nil: no call.
	Memory func(ctx context.Context, bytes int64) error
}

// DataToEdit is what an entry has, for whoever edits it.
type DataToEdit struct {
	Standing
	SubmissionID string
	Submitted    []byte // JSON document of a [seqlease.SubmittedData]
	// Processed is of the current pipeline version, as the present configuration
	// shows it.
	Processed        seqlease.ProcessedData
	Errors, Warnings []seqlease.Annotation
}

// DataToEditStore reads one entry with its documents.
type DataToEditStore interface {
	// EntryToEdit returns an entry of any organism and what is stored of it, from one
	// snapshot, or [seqlease.ErrNotFound].
	EntryToEdit(ctx context.Context, av seqlease.AccessionVersion) (EntryToEdit, error)
	// Unpack returns the document of a packed one.
	Unpack(ctx context.Context, p seqlease.Packed) ([]byte, error)
}

// EntryToEdit is an entry with what was submitted, in its present revision, and the
// result of that under the current pipeline version.
type EntryToEdit struct {
	Standing
	SubmissionID string
	Submitted    seqlease.Packed
	Processed    seqlease.Packed // a [seqlease.StoredResult]; its Bytes are nil where there is none
	Bytes        int64           // of both documents, unpacked, or a little more
}

// DataToEdit returns the data of an entry that has been processed, also of one that
// is released, in quarantine or being processed again (V9). The order of checks is
// the protocol's: the entry exists ([*StateError]), the person may act for its group
// ([seqlease.ErrForbidden]), it is of the organism and no revocation ([*StateError]),
// and the current pipeline version has a result for it ([seqlease.ErrState]).
func (s *Submissions) DataToEdit(ctx context.Context, p seqlease.Person, r DataToEditRequest) (DataToEdit, error) {
	o, err := s.organisms.Get(r.Organism)
	if err != nil {
		return DataToEdit{}, err
	}
	missing := &StateError{Missing: []seqlease.AccessionVersion{r.AccessionVersion}}
	if r.Accession.Fault() != "" {
		return DataToEdit{}, missing
	}
	stored, err := s.store.EntryToEdit(ctx, r.AccessionVersion)
	if errors.Is(err, seqlease.ErrNotFound) {
		return DataToEdit{}, missing
	}
	if err != nil {
		return DataToEdit{}, fmt.Errorf("data of %s: %w", r.AccessionVersion, err)
	}
	if err := s.mayChangeFound(ctx, p, r.Organism, []Standing{stored.Standing}); err != nil {
		return DataToEdit{}, err
	}
	switch {
	case stored.IsRevocation:
		return DataToEdit{}, &StateError{Revocations: []seqlease.AccessionVersion{r.AccessionVersion}}
	case stored.Processed.Bytes == nil:
		return DataToEdit{}, seqlease.Explain(seqlease.ErrState,
			"%s is %s: the current pipeline version has no result for it yet; wait until it has been processed", r.AccessionVersion, stored.Status)
	}
	if r.Memory != nil {
		if err := r.Memory(ctx, stored.Bytes); err != nil {
			return DataToEdit{}, err
		}
	}
	data := DataToEdit{Standing: stored.Standing, SubmissionID: stored.SubmissionID}
	result, err := s.unpack(ctx, stored, &data)
	if err != nil {
		return DataToEdit{}, fmt.Errorf("data of %s: %w", r.AccessionVersion, err)
	}
	data.Processed, data.Errors, data.Warnings = o.Rebuild(&result.Data), result.Errors, result.Warnings
	return data, nil
}

// unpack reads both documents.
func (s *Submissions) unpack(ctx context.Context, stored EntryToEdit, data *DataToEdit) (result seqlease.StoredResult, err error) {
	if data.Submitted, err = s.store.Unpack(ctx, stored.Submitted); err != nil {
		return result, err
	}
	document, err := s.store.Unpack(ctx, stored.Processed)
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(document, &result)
}
