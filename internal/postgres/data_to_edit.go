package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/seqcodec"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/entry_to_edit.sql
var entryToEditSQL string

// EntryToEdit reads an entry with its documents, as [submission.DataToEditStore] says.
func (s *Store) EntryToEdit(ctx context.Context, av seqlease.AccessionVersion) (submission.EntryToEdit, error) {
	var e submission.EntryToEdit
	err := s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) error {
			arguments := pgx.StrictNamedArgs{"accession": string(av.Accession), "version": int64(av.Version)}
			return withSettings(ctx, c, planSettingsSQL, entryToEditSQL, arguments, func(rows pgx.Rows) (err error) {
				e, err = pgx.CollectExactlyOneRow(rows, scanEntryToEdit)
				return err
			})
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return e, seqlease.Explain(seqlease.ErrNotFound, "there is no entry %s", av)
	}
	if err != nil {
		return e, fmt.Errorf("read %s: %w", av, err)
	}
	e.AccessionVersion = av
	e.Bytes = seqcodec.DocumentSize(e.Submitted.Bytes) + seqcodec.DocumentSize(e.Processed.Bytes)
	return e, nil
}

func scanEntryToEdit(row pgx.CollectableRow) (e submission.EntryToEdit, err error) {
	var status int
	var outcome *int
	err = row.Scan(&e.Organism, &e.GroupID, &status, &outcome, &e.IsRevocation, &e.SubmissionID,
		&e.Submitted.Dictionary, &e.Submitted.Bytes, &e.Processed.Dictionary, &e.Processed.Bytes)
	if err != nil {
		return e, err
	}
	e.Status, e.Result = seqlease.Statuses()[status], resultOf(outcome)
	return e, nil
}
