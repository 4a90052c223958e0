package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

//go:embed sql/take_key.sql
var takeKeySQL string

//go:embed sql/keep_answer.sql
var keepAnswerSQL string

//go:embed sql/stored_upload.sql
var storedUploadSQL string

//go:embed sql/trim_upload_keys.sql
var trimUploadKeysSQL string

// StoredUpload returns what was stored under a key, as [submission.UploadKeyStore] says.
func (s *Store) StoredUpload(ctx context.Context, user string, key submission.UploadKey) (made []seqlease.SubmissionIDMapping, err error) {
	err = s.repeat(ctx, func() error {
		return s.with(ctx, func(c *pgxpool.Conn) (err error) {
			made, err = storedUpload(c.QueryRow(ctx, storedUploadSQL, pgx.StrictNamedArgs{"user": user, "key": key.Key}), key)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("upload stored by %q: %w", user, err)
	}
	return made, nil
}

func storedUpload(row pgx.Row, key submission.UploadKey) ([]seqlease.SubmissionIDMapping, error) {
	var digest, answer []byte
	switch err := row.Scan(&digest, &answer); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, seqlease.ErrNotFound
	case err != nil:
		return nil, err
	case string(digest) != string(key.Digest[:]):
		return nil, submission.KeyReused(key.Key)
	}
	return submission.UnpackAnswer(answer)
}

// keyTries bounds how often a key is tried to be taken that others keep giving up.
const keyTries = 3

// takeKey makes the key this transaction's, if there is one. It waits for another one
// with that key; if that has stored something, stored is true and it is returned.
func takeKey(ctx context.Context, tx pgx.Tx, user string, key *submission.UploadKey) (made []seqlease.SubmissionIDMapping, stored bool, err error) {
	if key == nil {
		return nil, false, nil
	}
	for range keyTries {
		tag, err := tx.Exec(ctx, takeKeySQL, pgx.StrictNamedArgs{"user": user, "key": key.Key, "digest": key.Digest[:]})
		if err != nil || tag.RowsAffected() > 0 {
			return nil, false, err
		}
		made, err = storedUpload(tx.QueryRow(ctx, storedUploadSQL, pgx.StrictNamedArgs{"user": user, "key": key.Key}), *key)
		if !errors.Is(err, seqlease.ErrNotFound) { // or it was forgotten just then
			return made, true, err
		}
	}
	return nil, false, fmt.Errorf("%w: a key of an upload comes and goes", seqlease.ErrBusy)
}

// keepAnswer notes what the transaction's upload has stored, if it has a key.
func keepAnswer(ctx context.Context, tx pgx.Tx, user string, key *submission.UploadKey, made []seqlease.SubmissionIDMapping) error {
	if key == nil {
		return nil
	}
	answer, err := submission.PackAnswer(made)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, keepAnswerSQL, pgx.StrictNamedArgs{"user": user, "key": key.Key, "answer": answer})
	return err
}

// TrimUploadKeys forgets keys of uploads, as [queue.KeeperStore] says.
func (s *Store) TrimUploadKeys(ctx context.Context, keep time.Duration, limit int) (int, error) {
	n, err := s.trim(ctx, trimUploadKeysSQL, pgx.StrictNamedArgs{"keep": keep.Microseconds(), "limit": limit})
	if err != nil {
		return 0, fmt.Errorf("trim the keys of uploads: %w", err)
	}
	return n, nil
}
