package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/seqcodec"
	"github.com/seqlease/seqlease/internal/submission"
)

// EntryToEdit reads an entry with its documents, as [submission.DataToEditStore] says.
func (s *Store) EntryToEdit(ctx context.Context, av seqlease.AccessionVersion) (submission.EntryToEdit, error) {
	e := submission.EntryToEdit{Standing: submission.Standing{AccessionVersion: av}}
	err := s.readOnce().row(ctx, "entry_to_edit", named("accession", string(av.Accession), "version", int64(av.Version)),
		&e.Organism, &e.GroupID, &e.Status, &e.Result, &e.IsRevocation, &e.SubmissionID,
		&e.Submitted.Dictionary, &e.Submitted.Bytes, &e.Processed.Dictionary, &e.Processed.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return e, seqlease.Explain(seqlease.ErrNotFound, "there is no entry %s", av)
	}
	if err != nil {
		return e, fmt.Errorf("read %s: %w", av, storeError(err))
	}
	e.Bytes = seqcodec.DocumentSize(e.Submitted.Bytes) + seqcodec.DocumentSize(e.Processed.Bytes)
	return e, nil
}
