package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/submission"
)

// userKey is a key of an upload and whose it is.
type userKey struct{ user, key string }

// StoredUpload returns what was stored under a key, as [submission.UploadKeyStore] says.
func (s *Store) StoredUpload(ctx context.Context, user string, key submission.UploadKey) ([]seqlease.SubmissionIDMapping, error) {
	var digest, answer []byte
	err := s.readOnce().row(ctx, "stored_upload", named("user", user, "key", key.Key), &digest, &answer)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("upload stored by %q: %w", user, seqlease.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("upload stored by %q: %w", user, storeError(err))
	case string(digest) != string(key.Digest[:]):
		return nil, submission.KeyReused(key.Key)
	}
	return submission.UnpackAnswer(answer)
}

// keyed stores an upload, unless it is stored under its key already. It waits for
// others with that key.
func (s *Store) keyed(ctx context.Context, user string, key *submission.UploadKey,
	store func() ([]seqlease.SubmissionIDMapping, error),
) ([]seqlease.SubmissionIDMapping, error) {
	if key == nil {
		return store()
	}
	release, err := s.keys.take(ctx, userKey{user, key.Key})
	if err != nil {
		return nil, err
	}
	defer release()
	if made, err := s.StoredUpload(ctx, user, *key); !errors.Is(err, seqlease.ErrNotFound) {
		return made, err
	}
	return store()
}

// keptKey is the row of an upload's key.
type keptKey struct {
	user   string
	key    *submission.UploadKey // nil: none
	answer []byte
}

// with packs what the upload has made, which takes too long for a transaction.
func (k keptKey) with(made []seqlease.SubmissionIDMapping) (keptKey, error) {
	if k.key == nil {
		return k, nil
	}
	var err error
	k.answer, err = submission.PackAnswer(made)
	return k, err
}

// keep writes the row, if there is a key.
func (k keptKey) keep(ctx context.Context, t *tx) error {
	if k.key == nil {
		return nil
	}
	_, err := t.exec(ctx, "keep_key", named("user", k.user, "key", k.key.Key, "digest", k.key.Digest[:], "answer", k.answer)...)
	return err
}

// TrimUploadKeys forgets keys of uploads, as [queue.KeeperStore] says.
func (s *Store) TrimUploadKeys(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
		n, err = t.exec(ctx, "trim_upload_keys", named("keep", keep.Microseconds(), "limit", int64(limit))...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("trim the keys of uploads: %w", err)
	}
	return int(n), nil
}
