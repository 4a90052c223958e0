package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// ReleasedMark returns the state of what is released of the organism: it
// changes with every change of it and rises in plain string order.
func (s *Store) ReleasedMark(ctx context.Context, o seqlease.Organism) (string, error) {
	var mark string
	err := s.readOnce().row(ctx, "released_mark", named("organism", string(o)), &mark)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: %q", seqlease.ErrUnknownOrganism, o)
	}
	if err != nil {
		return "", fmt.Errorf("released mark of %s: %w", o, storeError(err))
	}
	return mark, nil
}

// ReadReleased reads what is released from one snapshot: begin once, then yield
// for each entry version by accession and version. An error of either ends the
// call and is returned.
func (s *Store) ReadReleased(ctx context.Context, o seqlease.Organism,
	begin func(submission.ReleasedHead) error, yield func(submission.ReleasedEntry) error,
) error {
	err := s.readLong(ctx, func(t *tx) error {
		var head submission.ReleasedHead
		var id, now int64
		var current seqlease.PipelineVersion
		err := t.row(ctx, "released_head", named("organism", string(o)), &id, &current, &head.Mark, &now, &head.Count)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: %q", seqlease.ErrUnknownOrganism, o)
		}
		if err != nil {
			return err
		}
		head.Now = instant(now)
		if err := begin(head); err != nil {
			return err
		}
		args := named("organism_id", id, "pipeline_version", int64(current))
		return t.rows(ctx, "read_released", args, func(scan func(...any) error) error {
			e, err := s.scanReleased(scan)
			if err != nil {
				return err
			}
			e.PipelineVersion = current
			return yield(e)
		})
	})
	if err != nil {
		return fmt.Errorf("read what is released of %s: %w", o, err)
	}
	return nil
}

func (s *Store) scanReleased(scan func(...any) error) (submission.ReleasedEntry, error) {
	var e submission.ReleasedEntry
	var kind seqlease.TermsType
	var until string
	var submittedAt, releasedAt, termsChangedAt int64
	var result, submitted seqlease.Packed
	var external sql.RawBytes
	err := scan(&e.Accession, &e.Version, &e.SubmissionID, &e.Submitter, &e.GroupID, &e.GroupName, &e.IsRevocation,
		&submittedAt, &releasedAt, &kind, &until, &termsChangedAt,
		&result.Dictionary, (*sql.RawBytes)(&result.Bytes), &submitted.Dictionary, (*sql.RawBytes)(&submitted.Bytes), &external)
	if err != nil {
		return e, err
	}
	e.SubmittedAt, e.ReleasedAt, e.TermsChangedAt = instant(submittedAt), instant(releasedAt), instant(termsChangedAt)
	if e.Terms, err = termsOf(kind, until); err != nil {
		return e, err
	}
	if result.Bytes != nil {
		e.Result, err = s.unpack(result)
	}
	if err == nil && submitted.Bytes != nil {
		e.Submitted, err = s.unpack(submitted)
	}
	if err == nil {
		e.External, err = readExternal(external)
	}
	if err != nil {
		return e, fmt.Errorf("%s: %w", e.AccessionVersion, err)
	}
	return e, nil
}
