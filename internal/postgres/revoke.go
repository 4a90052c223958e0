package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/lock_newest.sql
var lockNewestSQL string

//go:embed sql/revoke.sql
var revokeSQL string

// errOvertaken says that the highest version of an accession is none of those that
// were locked, or that its successor is being stored: it is found when this is done
// again.
var errOvertaken = seqlease.Explain(seqlease.ErrBusy, "another version of an accession was created or released at the same time: send it again")

// Revoke adds revocations, as [submission.RevokeStore] says. Who else adds a version
// at the same time either has the lock, or is refused by the key of the entries.
func (s *Store) Revoke(ctx context.Context, r submission.Revocation) ([]seqlease.SubmissionIDMapping, error) {
	o, err := s.organism(ctx, r.Organism)
	if err != nil {
		return nil, err
	}
	packed, err := s.Pack(r.Organism, r.Data)
	if err != nil {
		return nil, err
	}
	var made []seqlease.SubmissionIDMapping
	err = s.again(ctx, func() error {
		err := s.change(ctx, func(tx pgx.Tx) (err error) {
			made, err = revoke(ctx, tx, o.id, r, packed)
			return err
		})
		if isTaken(err) {
			return errOvertaken
		}
		return err
	}, func(err error) bool {
		return isConflict(err) || pgconn.SafeToRetry(err) || errors.Is(err, errOvertaken)
	})
	if err != nil {
		return nil, fmt.Errorf("revoke %d accessions of %s: %w", len(r.Accessions), r.Organism, err)
	}
	slices.SortFunc(made, func(a, b seqlease.SubmissionIDMapping) int { return a.Compare(b.AccessionVersion) })
	return made, nil
}

func revoke(ctx context.Context, tx pgx.Tx, organismID int32, r submission.Revocation, packed seqlease.Packed) ([]seqlease.SubmissionIDMapping, error) {
	rows, err := tx.Query(ctx, lockNewestSQL, pgx.StrictNamedArgs{"accessions": texts(r.Accessions)})
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	// The locks may have been waited for: everything is tested anew. That the highest
	// versions are those that are locked shows below.
	found, _, err := newestLocked(ctx, tx, r.Accessions, ids)
	if err != nil {
		return nil, err
	}
	if err := submission.RevokeFaults(r.Organism, r.Accessions, found); err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, revokeSQL, pgx.StrictNamedArgs{
		"organism": organismID, "ids": ids, "user": r.User, "dictionary": packed.Dictionary, "submitted": packed.Bytes,
	})
	if err != nil {
		return nil, err
	}
	made, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m seqlease.SubmissionIDMapping, err error) {
		err = row.Scan(&m.Accession, &m.Version, &m.SubmissionID)
		return m, err
	})
	if err != nil {
		return nil, err
	}
	if len(made) < len(r.Accessions) {
		return nil, errOvertaken
	}
	return made, noteAction(ctx, tx, organismID, r.Note(made))
}
